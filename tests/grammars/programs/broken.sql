SELECT a FROM t WHERE b IN (1, 2
-----
SELECT name FROM
-----
SELECT name users WHERE id = 1 FROM t
-----
SELECT a FROM t ORDER BY
-----
SELECT name FROM users WHERE
-----
SELECT name FROM users WHERE AND id = 1
-----
SELECT name FROM users GROUP name
-----
SELECT name FROM users ORDER name
-----
SELECT COUNT( FROM users
-----
SELECT (a + b FROM users
-----
SELECT a, b FROM t WHERE a =
-----
SELECT a FROM t JOIN ON t.a = u.a
-----
SELECT a FROM t WHERE a LIKE
-----
SELECT 'it's' FROM t
-----
SELECT a FROM t WHERE a BETWEEN 1
-----
SELECT CASE WHEN a THEN b FROM t
-----
WITH x AS SELECT 1 SELECT * FROM x
-----
SELECT a FROM (SELECT b FROM t WHERE) AS s
-----
SELECT a b c FROM t
-----
SELECT CAST(a AS) FROM t
