import type { Pool } from 'pg';

/** Stores a value that all processes on a database share, unless it exists. Returns the stored one. */
export async function shareValue(pool: Pool, name: string, value: string): Promise<string> {
  await pool.query(
    'insert into service_values (name, value) values ($1, $2) on conflict do nothing',
    [name, value],
  );
  const { rows } = await pool.query<{ value: string }>(
    'select value from service_values where name = $1',
    [name],
  );
  return rows[0]?.value ?? value;
}
