-- What the end of the run waited for, by source line and cause.
SELECT file, line, cause, SUM(end_ps - start_ps) AS path_ps,
       100.0 * SUM(end_ps - start_ps) / (SELECT MAX(end_ps) FROM critical_path) AS percent
FROM critical_path
GROUP BY file, line, cause
ORDER BY path_ps DESC, file, line, cause;
