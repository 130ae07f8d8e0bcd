-- The ten source lines whose operations waited longest for their engines.
SELECT file, line, kind, COUNT(*) AS operations, SUM(queue_ps) AS queue_ps, MAX(queue_ps) AS longest_ps
FROM operations
WHERE part = 0 AND kind <> 'ipcq_recv'
GROUP BY file, line, kind
ORDER BY queue_ps DESC, file, line, kind
LIMIT 10;
