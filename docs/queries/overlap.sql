-- By PE: how long its DMA and its compute engines were busy, and how long both at once.
WITH edges AS (
  SELECT pe, start_ps AS at, category = 'memory' AS dma, category <> 'memory' AS compute
  FROM operations WHERE category IN ('memory', 'gemm', 'math')
  UNION ALL
  SELECT pe, end_ps, -(category = 'memory'), -(category <> 'memory')
  FROM operations WHERE category IN ('memory', 'gemm', 'math')
),
intervals AS (
  SELECT pe, LEAD(at) OVER in_time - at AS length, SUM(dma) OVER in_time AS dma, SUM(compute) OVER in_time AS compute
  FROM edges
  WINDOW in_time AS (PARTITION BY pe ORDER BY at ROWS UNBOUNDED PRECEDING)
)
SELECT pe,
       SUM(CASE WHEN dma > 0 THEN length ELSE 0 END) AS dma_ps,
       SUM(CASE WHEN compute > 0 THEN length ELSE 0 END) AS compute_ps,
       SUM(CASE WHEN dma > 0 AND compute > 0 THEN length ELSE 0 END) AS both_ps
FROM intervals
GROUP BY pe
ORDER BY pe;
