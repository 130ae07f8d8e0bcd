-- Busy time by PE and engine. Of the queues, sends alone: receives wait for others.
SELECT pe, engine, COUNT(*) AS operations, SUM(end_ps - start_ps) AS busy_ps,
       100.0 * SUM(end_ps - start_ps) / (SELECT value FROM run WHERE key = 'end_ps') AS percent
FROM operations
WHERE engine <> 'composite' AND kind <> 'ipcq_recv'
GROUP BY pe, engine
ORDER BY pe, engine;
