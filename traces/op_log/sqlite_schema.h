// The tables and views of an op log in SQLite.
#pragma once

namespace kernwave::traces {

/// Version 1. Times that are told from a later one are short, and SQLite stores small numbers in few bytes.
inline constexpr const char* sqlite_schema = R"(
CREATE TABLE run (key TEXT NOT NULL PRIMARY KEY, value);
CREATE TABLE work (
  number INTEGER PRIMARY KEY, engine TEXT, category TEXT, kind TEXT, label TEXT, shape TEXT, dtype TEXT,
  bytes INTEGER, flops INTEGER, file TEXT, line INTEGER);
CREATE TABLE operation_row (
  number INTEGER PRIMARY KEY, pe INTEGER, sequence INTEGER, part INTEGER, work INTEGER, end_ps INTEGER,
  service_ps INTEGER, queue_ps INTEGER, detail INTEGER, dependencies TEXT);
CREATE TABLE place (number INTEGER PRIMARY KEY, file TEXT, line INTEGER);
CREATE TABLE path_row (
  position INTEGER PRIMARY KEY, start_ps INTEGER, end_ps INTEGER, cause TEXT, pe INTEGER, sequence INTEGER,
  part INTEGER, place INTEGER);
CREATE VIEW operations AS
SELECT
  'pe' || o.pe || '.' || o.sequence || CASE o.part WHEN 0 THEN '' ELSE '.' || o.part END AS id,
  CASE WHEN o.part > 0 THEN 'pe' || o.pe || '.' || o.sequence END AS parent,
  o.pe, o.sequence, o.part,
  w.engine, w.category, w.kind, w.label, w.shape, w.dtype, w.bytes, w.flops,
  CASE WHEN w.category = 'memory' THEN o.detail >> 40 END AS cube,
  CASE WHEN w.category = 'memory' THEN o.detail & 0xFFFFFFFFFF END AS offset,
  o.end_ps - o.service_ps - o.queue_ps AS issue_ps,
  o.end_ps - o.service_ps AS start_ps,
  o.end_ps, o.queue_ps,
  CASE WHEN w.category = 'comm' THEN o.detail END AS waited_ps,
  o.dependencies, w.file, w.line
FROM operation_row AS o JOIN work AS w ON w.number = o.work;
CREATE VIEW critical_path AS
SELECT
  s.position, s.start_ps, s.end_ps, s.cause,
  'pe' || s.pe || '.' || s.sequence || CASE s.part WHEN 0 THEN '' ELSE '.' || s.part END AS operation,
  s.pe, s.sequence, s.part, p.file, p.line
FROM path_row AS s JOIN place AS p ON p.number = s.place;
)";

/// Made when all rows are there: sorting them once is cheaper than keeping them sorted.
inline constexpr const char* sqlite_indices =
    "CREATE UNIQUE INDEX operation_row_by_operation ON operation_row (pe, sequence, part)";

}  // namespace kernwave::traces
