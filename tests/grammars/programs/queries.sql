SELECT l_returnflag, l_linestatus, SUM(l_quantity) AS sum_qty,
       SUM(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge,
       AVG(l_discount) avg_disc, COUNT(*) AS count_order
FROM lineitem
WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL '90' DAY
GROUP BY l_returnflag, l_linestatus
ORDER BY l_returnflag, l_linestatus DESC;
-----
SELECT s_acctbal, s_name, n_name, p_partkey
FROM part, supplier, partsupp, nation, region
WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey AND p_size = 15
  AND p_type LIKE '%BRASS' AND r_name = 'EUROPE'
  AND ps_supplycost = (SELECT MIN(ps_supplycost) FROM partsupp, supplier
                       WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey)
ORDER BY s_acctbal DESC, n_name LIMIT 100
-----
SELECT o_orderpriority, COUNT(*) AS order_count FROM orders
WHERE o_orderdate >= DATE '1993-07-01'
  AND EXISTS (SELECT * FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)
GROUP BY o_orderpriority ORDER BY o_orderpriority
-----
SELECT supp_nation, l_year, SUM(volume) AS revenue
FROM (SELECT n1.n_name AS supp_nation, EXTRACT(YEAR FROM l_shipdate) AS l_year,
             l_extendedprice * (1 - l_discount) AS volume
      FROM supplier, lineitem, nation n1
      WHERE s_suppkey = l_suppkey AND s_nationkey = n1.n_nationkey) AS shipping
GROUP BY supp_nation, l_year ORDER BY 1, 2
-----
SELECT o_year, SUM(CASE WHEN nation = 'BRAZIL' THEN volume ELSE 0 END) / SUM(volume) AS share
FROM sales AS all_nations GROUP BY o_year HAVING SUM(volume) > 0 ORDER BY o_year NULLS LAST
-----
WITH revenue AS (
    SELECT l_suppkey AS supplier_no, SUM(l_extendedprice) AS total FROM lineitem GROUP BY l_suppkey
), best(total) AS (SELECT MAX(total) FROM revenue)
SELECT s.s_name, r.total FROM supplier AS s
INNER JOIN revenue r ON s.s_suppkey = r.supplier_no
CROSS JOIN best b
WHERE r.total = b.total
-----
SELECT c_count, COUNT(*) AS custdist
FROM (SELECT c_custkey, COUNT(o_orderkey) FROM customer
      LEFT OUTER JOIN orders ON c_custkey = o_custkey AND o_comment NOT LIKE '%special%requests%'
      GROUP BY c_custkey) AS c_orders
GROUP BY c_count ORDER BY custdist DESC, c_count DESC
-----
SELECT 100.00 * SUM(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice ELSE 0 END) AS promo
FROM lineitem JOIN part USING (l_partkey, "part key")
WHERE NOT l_quantity IS NULL
-----
SELECT p_brand, p_size, COUNT(DISTINCT ps_suppkey) AS supplier_cnt
FROM partsupp p
WHERE p_brand <> 'Brand#45' AND p_size IN (49, 14, 23, 45)
  AND ps_suppkey NOT IN (SELECT s_suppkey FROM supplier WHERE s_comment LIKE '%Complaints%')
GROUP BY p_brand, p_size
-----
SELECT a.id FROM accounts a
UNION ALL
SELECT b.id FROM archive.accounts b WHERE b.closed = FALSE
EXCEPT
SELECT id FROM banned
ORDER BY id LIMIT 10 OFFSET 20
-----
SELECT department, name, salary,
       RANK() OVER (PARTITION BY department ORDER BY salary DESC) AS position,
       SUM(salary) OVER (ORDER BY hired) AS running
FROM employees
WHERE salary BETWEEN 30000 AND 90000
-----
SELECT CAST(price AS DECIMAL(10, 2)) AS price, CAST(note AS TEXT), UPPER(name) || ' ' || LOWER(code)
FROM "Items for sale" WHERE price >= 0.5 OR (price < -10 AND price - -3 <> 4 % 3)
-----
SELECT t.*, (SELECT COUNT(*) FROM visits v WHERE v.user_id = t.id) AS visits
FROM users t
RIGHT JOIN sessions USING (id)
FULL OUTER JOIN logs ON logs.session = sessions.id
-----
WITH RECURSIVE tree AS (
    SELECT id, parent, 1 AS depth FROM nodes WHERE parent IS NULL
    UNION ALL
    SELECT n.id, n.parent, t.depth + 1 FROM nodes n JOIN tree t ON n.parent = t.id
)
SELECT depth, COUNT(*) FROM tree GROUP BY depth ORDER BY depth
-----
SELECT CASE grade WHEN 'A' THEN 4 WHEN 'B' THEN 3 ELSE 0 END AS points,
       COALESCE(nick, first_name, 'it''s nobody') AS shown
FROM pupils WHERE class_id = 3 AND (left_at IS NULL OR left_at > TIMESTAMP '2024-01-01 00:00:00')
-----
SELECT DISTINCT city FROM (SELECT city FROM shops UNION SELECT city FROM depots) AS places
WHERE city IS NOT NULL
ORDER BY city ASC
-----
SELECT o.id, o.total - COALESCE(r.refund, 0) AS net
FROM orders o
LEFT JOIN (SELECT order_id, SUM(amount) AS refund FROM refunds GROUP BY order_id) r
  ON r.order_id = o.id
WHERE o.placed >= DATE '2024-01-01' AND o.status NOT IN ('cancelled', 'failed')
-----
SELECT sensor, AVG(value) AS mean, MIN(value), MAX(value), COUNT(value) AS n
FROM readings WHERE taken BETWEEN '2024-06-01' AND '2024-06-30'
GROUP BY sensor HAVING COUNT(value) > 100 AND NOT MAX(value) > 99.9
-----
SELECT u.name, p.title FROM users u, posts p
WHERE u.id = p.author AND p.score * 2 + p.comments / 4 >= 10 AND p.published IS TRUE
ORDER BY p.score DESC, u.name
LIMIT 25
-----
SELECT product FROM stock s
WHERE s.count < (SELECT AVG(count) FROM stock)
INTERSECT
SELECT product FROM wanted
