import type { Reader } from './connections.ts';
import type { RunSummary } from './run-sums.ts';
import { parseJsonColumn } from './session-rows.ts';

/** The agent of a simulation, and the channel. */
type SimulationTarget = Pick<RunSummary, 'agent' | 'channel'>;

/**
 * Returns what simulations tested, by their keys. Only the first and the last session of each is read, in the
 * order of their scenarios, because a simulation may have very many.
 */
export async function findSimulationTargets(
  db: Reader,
  keys: readonly number[],
): Promise<Map<number, SimulationTarget>> {
  if (keys.length === 0) return new Map();
  const ends = await db
    .selectFrom('simulations')
    .where('simulations.key', 'in', keys)
    .select((eb) => {
      const select = (order: 'asc' | 'desc') =>
        eb
          .selectFrom('sessions')
          .select('sessions.key')
          .whereRef('sessions.simulation_key', '=', 'simulations.key')
          .orderBy('sessions.scenario_id', order)
          .orderBy('sessions.verdict', order)
          .orderBy('sessions.sample', order)
          .orderBy('sessions.id', order)
          .limit(1);
      return ['simulations.key', select('asc').as('first'), select('desc').as('last')];
    })
    .execute();
  const sessions = await db
    .selectFrom('sessions')
    .leftJoin('agents', 'agents.key', 'sessions.agent_key')
    .select(['sessions.key', 'sessions.simulated', 'agents.name'])
    .where(
      'sessions.key',
      'in',
      ends.flatMap(({ first, last }) => [first ?? -1, last ?? -1]),
    )
    .execute();
  return new Map(
    ends.map(({ key, first, last }) => {
      const read = sessions.filter((session) => session.key === first || session.key === last);
      const channels = read.flatMap(({ simulated }) => {
        const channel = parseJsonColumn(simulated)?.['channel'];
        return typeof channel === 'string' ? [channel] : [];
      });
      const agent = read.find(({ name }) => name !== null)?.name;
      const channel = [...new Set(channels)].sort().join(' and ');
      return [key, { ...(agent && { agent }), ...(channel !== '' && { channel }) }];
    }),
  );
}
