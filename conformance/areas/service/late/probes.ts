import { conversations } from '../close/probes.ts';
import { production } from '../results/probes.ts';
import { cost } from '../../../engine/probe.ts';
import type { ServiceProbe, ServiceProbeContext } from '../context.ts';
import { valueAt } from '../../../../src/contract/index.ts';
import { isAccepted } from '../../../engine/transcript/reading.ts';
import { about, admin, evalsOf } from '../control-probes.ts';
import { end, traces, wantedOf } from '../close/probes.ts';
import { chatSpan, conversation, exportOf } from '../spans.ts';
import { read, untilScored, windowOf } from '../waiting.ts';

const DAY_MS = 86_400_000;
const owner = 'apart' as const;

// Without a control API nobody says when a second scoring would be done.
const SCORING_PAUSE_MS = 1_000;

/** Two conversations in one request, and one that goes on after it was closed and scored. */
const late: ServiceProbe = {
  id: 'service/late',
  area: 'service',
  phase: 'accepted',
  exercises: ['SERVICE-060', 'SERVICE-061'],
  cost: cost(10),
  async run(context) {
    const { service } = context;
    const first = conversation(service, 'first of two', { afterMs: 9_000 });
    const second = conversation(service, 'second of two', { afterMs: 9_500 });
    const both = exportOf([chatSpan(service, first), chatSpan(service, second)]);
    await context.send(traces(context, 'two ids', both, { owner }));
    const ends = [
      await context.send(end(context, 'close first of two', first.id, owner)),
      await context.send(end(context, 'close second of two', second.id, owner)),
    ];
    const talk = conversation(service, 'late', { afterMs: 10_000 });
    await context.send(traces(context, 'late', exportOf([chatSpan(service, talk)]), { owner }));
    const closed = await context.send(end(context, 'close late', talk.id, owner));
    if (!closed || !isAccepted(closed) || valueAt(closed.json, '/evaluations_queued') === 0) return;
    if (service.hasControlApi) await context.send(admin('drain', '/drain'));
    const wanted = [first, second, talk].flatMap(({ id }, index) => {
      const ended = [...ends, closed][index];
      return ended ? wantedOf(id, ended) : [];
    });
    await untilScored(context, wanted, 'before late spans', owner);
    const after = exportOf([chatSpan(service, talk, 2)]);
    await context.send({ ...traces(context, 'late again', after, { owner }), intent: 'open' });
    if (service.hasControlApi) await context.send(admin('drain', '/drain'));
    else await service.pause(SCORING_PAUSE_MS);
    const query = { ...windowOf(service), include_traces: 'true', limit: '500' };
    await context.send(read(context, 'production', 'after late spans', query, owner));
  },
};

/** Conversations of two days that closed with no evals, and are scored when that is asked for. */
const backlog: ServiceProbe = {
  id: 'service/backlog',
  area: 'service',
  phase: 'accepted',
  exercises: ['SERVICE-062', 'SERVICE-063', 'SERVICE-064'],
  // What days look like in the names of runs is seen there.
  needs: [conversations, production],
  cost: cost(9),
  async run(context) {
    const { service } = context;
    if (!service.hasControlApi) return;
    await closeUnscored(context, 'backlog old', -3 * DAY_MS);
    await closeUnscored(context, 'backlog', -DAY_MS);
    const path = `/score-backlog${about(service, 'backlog')}`;
    await context.send(admin('score no evals', path, {}));
    const evals = evalsOf(service);
    const live = { evals, settings: { evals: evals.map(({ id }) => id) } };
    await context.send(admin('evals for backlog', `/seed${about(service, 'backlog')}`, live));
    await context.send(admin('score backlog', path, {}));
    await context.send(admin('drain', '/drain'));
    const query = { ...windowOf(service), include_traces: 'true' };
    await context.send(read(context, 'production', 'backlog', query, 'backlog'));
  },
};

async function closeUnscored(
  context: ServiceProbeContext,
  name: string,
  afterMs: number,
): Promise<void> {
  const talk = conversation(context.service, name, { afterMs });
  const request = exportOf([chatSpan(context.service, talk)]);
  await context.send(traces(context, name, request, { owner: 'backlog' }));
  await context.send(end(context, `close ${name}`, talk.id, 'backlog'));
}

/** The scenarios of what comes after a close. */
export const lateScenarios: readonly ServiceProbe[] = [late, backlog];
