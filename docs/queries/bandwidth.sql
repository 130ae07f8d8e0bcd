-- Bytes from and to HBM in each microsecond, counted where their transfers end, and GB/s.
SELECT end_ps / 1000000 AS microsecond,
       SUM(CASE WHEN engine = 'dma_read' THEN bytes ELSE 0 END) AS bytes_read,
       SUM(CASE WHEN engine = 'dma_write' THEN bytes ELSE 0 END) AS bytes_written,
       SUM(bytes) / 1000.0 AS gb_per_s
FROM operations
WHERE category = 'memory'
GROUP BY microsecond
ORDER BY microsecond;
