import { valueAt } from '../../../../src/contract/index.ts';
import { accepted } from '../../../engine/transcript/reading.ts';
import { cost, type Scenario } from '../../../engine/probe.ts';
import { about, admin, evalsOf } from '../control-probes.ts';
import { end, traces, wantedOf } from '../close/probes.ts';
import { chatSpan, conversation, exportOf } from '../spans.ts';
import type { World } from '../../../engine/probe-context.ts';
import { read, untilScored, windowOf } from '../waiting.ts';

const DAY_MS = 86_400_000;
const owner = 'apart' as const;

// Without a control API nobody says when a second scoring would be done.
const SCORING_PAUSE_MS = 1_000;

/** Two conversations in one request, and one that goes on after it was closed and scored. */
const late: Scenario = {
  id: 'service/late',
  area: 'service',
  phase: 'accepted',
  exercises: ['SERVICE-060', 'SERVICE-061'],
  cost: cost(10),
  async drive(world) {
    const { service } = world;
    const first = conversation(service, 'first of two', { afterMs: 9_000 });
    const second = conversation(service, 'second of two', { afterMs: 9_500 });
    const both = exportOf([chatSpan(service, first), chatSpan(service, second)]);
    await world.send(traces(world, 'two ids', both, { owner }));
    const ends = [
      await world.send(end(world, 'close first of two', first.id, owner)),
      await world.send(end(world, 'close second of two', second.id, owner)),
    ];
    const talk = conversation(service, 'late', { afterMs: 10_000 });
    await world.send(traces(world, 'late', exportOf([chatSpan(service, talk)]), { owner }));
    const closed = await world.send(end(world, 'close late', talk.id, owner));
    if (!closed || !accepted(closed) || valueAt(closed.json, '/evaluations_queued') === 0) return;
    if (service.control) await world.send(admin('drain', '/drain'));
    const wanted = [first, second, talk].flatMap(({ id }, index) => {
      const ended = [...ends, closed][index];
      return ended ? wantedOf(id, ended) : [];
    });
    await untilScored(world, wanted, 'before late spans', owner);
    const after = exportOf([chatSpan(service, talk, 2)]);
    await world.send({ ...traces(world, 'late again', after, { owner }), intent: 'open' });
    if (service.control) await world.send(admin('drain', '/drain'));
    else await service.pause(SCORING_PAUSE_MS);
    const query = { ...windowOf(service), include_traces: 'true', limit: '500' };
    await world.send(read(world, 'production', 'after late spans', query, owner));
  },
};

/** Conversations of two days that closed with no evals, and are scored when that is asked for. */
const backlog: Scenario = {
  id: 'service/backlog',
  area: 'service',
  phase: 'accepted',
  exercises: ['SERVICE-062', 'SERVICE-063', 'SERVICE-064'],
  // What days look like in the names of runs is seen there.
  needs: ['service/conversations', 'service/production'],
  cost: cost(9),
  async drive(world) {
    const { service } = world;
    if (!service.control) return;
    await closeUnscored(world, 'backlog old', -3 * DAY_MS);
    await closeUnscored(world, 'backlog', -DAY_MS);
    const path = `/score-backlog${about(service, 'backlog')}`;
    await world.send(admin('score no evals', path, {}));
    const evals = evalsOf(service);
    const live = { evals, settings: { evals: evals.map(({ id }) => id) } };
    await world.send(admin('evals for backlog', `/seed${about(service, 'backlog')}`, live));
    await world.send(admin('score backlog', path, {}));
    await world.send(admin('drain', '/drain'));
    const query = { ...windowOf(service), include_traces: 'true' };
    await world.send(read(world, 'production', 'backlog', query, 'backlog'));
  },
};

async function closeUnscored(world: World, name: string, afterMs: number): Promise<void> {
  const talk = conversation(world.service, name, { afterMs });
  const request = exportOf([chatSpan(world.service, talk)]);
  await world.send(traces(world, name, request, { owner: 'backlog' }));
  await world.send(end(world, `close ${name}`, talk.id, 'backlog'));
}

/** The scenarios of what comes after a close. */
export const lateScenarios: readonly Scenario[] = [late, backlog];
