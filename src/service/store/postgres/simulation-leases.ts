import type { Pool } from 'pg';
import { randomHex } from '../../../platform/random.ts';
import type { SimulationLease } from '../replicas.ts';

const LEASE_MS = 10_000;
const ENDS_AT = `clock_timestamp() + interval '${LEASE_MS} ms'`;

/** Leases end by the time of the database, because the clocks of replicas differ. */
const IS_HELD = 'ends_at > clock_timestamp()';

/** Creates the leases of simulations. */
export function createSimulationLeases(pool: Pool) {
  return {
    /** How long a process may run a simulation without renewing its lease. */
    leaseMs: LEASE_MS,
    /** Returns undefined if another process runs the simulation, or if it has ended. */
    async take(ownerId: string, id: string): Promise<SimulationLease | undefined> {
      const token = randomHex(12);
      const { rows } = await pool.query(
        `insert into simulation_leases as lease (owner_id, simulation_key, token, ends_at, running)
         select owner_id, key, $3, ${ENDS_AT}, '[]' from simulations
         where owner_id = $1 and id = $2 and exists (
           select 1 from simulation_plans as plan
           where plan.owner_id = $1 and simulation_key = key and state = 'running'
         )
         on conflict (owner_id, simulation_key) do update
         set token = $3, ends_at = ${ENDS_AT}, running = '[]'
         where not (lease.${IS_HELD})
         returning 1`,
        [ownerId, id, token],
      );
      return rows.length === 0 ? undefined : { ownerId, id, token };
    },
    /**
     * Renews a lease, with the running sessions as JSON for other replicas. Returns `lost` if another
     * process has taken it, and `ended` if the simulation was canceled.
     */
    async renew(
      { ownerId, token }: SimulationLease,
      running: string,
    ): Promise<'running' | 'ended' | 'lost'> {
      const { rows } = await pool.query<{ state: string }>(
        `update simulation_leases as lease set ends_at = ${ENDS_AT}, running = $3
         from simulation_plans as plan
         where lease.owner_id = $1 and token = $2
           and plan.owner_id = $1 and plan.simulation_key = lease.simulation_key
         returning state`,
        [ownerId, token, running],
      );
      const [row] = rows;
      if (!row) return 'lost';
      return row.state === 'running' ? 'running' : 'ended';
    },
    async release({ ownerId, token }: SimulationLease): Promise<void> {
      await pool.query('delete from simulation_leases where owner_id = $1 and token = $2', [
        ownerId,
        token,
      ]);
    },
    /** Returns the running sessions that the process with the lease has reported. */
    async findRunning(ownerId: string, id: string): Promise<string | undefined> {
      const { rows } = await pool.query<{ running: string }>(
        `select running from simulation_leases as lease, simulations
         where lease.owner_id = $1 and simulations.owner_id = $1 and id = $2
           and simulation_key = key and ${IS_HELD}`,
        [ownerId, id],
      );
      return rows[0]?.running;
    },
    /** Returns whether a simulation is running or waits, on any replica. */
    async isAnyActive(): Promise<boolean> {
      const { rows } = await pool.query(
        `select 1 from simulation_plans where state = 'running'
         union all select 1 from simulation_leases where ${IS_HELD} limit 1`,
      );
      return rows.length > 0;
    },
  };
}

export type SimulationLeases = ReturnType<typeof createSimulationLeases>;
