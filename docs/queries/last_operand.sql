-- By kind and source line: the line whose result came last of what an operation reads, and how long before its issue.
SELECT o.kind, o.line, d.kind AS last_kind, d.line AS last_line, COUNT(*) AS operations,
       SUM(o.issue_ps - d.end_ps) AS between_ps
FROM operations AS o
JOIN operations AS d ON d.pe = o.pe AND d.part = 0 AND d.sequence = (
  SELECT r.sequence
  FROM json_each('[' || replace(o.dependencies, ' ', ',') || ']') AS on_which
  JOIN operations AS r ON r.pe = o.pe AND r.sequence = on_which.value AND r.part = 0
  ORDER BY r.end_ps DESC, r.sequence DESC LIMIT 1)
WHERE o.dependencies IS NOT NULL
GROUP BY o.kind, o.line, last_kind, last_line
ORDER BY operations DESC, o.line, last_line;
