import { cost } from '../../../engine/probe.ts';
import type { ServiceProbe, ServiceProbeContext } from '../context.ts';
import { isAccepted } from '../../../engine/transcript/reading.ts';
import { end, traces, wantedOf } from '../close/probes.ts';
import { chatSpan, conversation, exportOf, type Conversation } from '../spans.ts';
import { untilScored, type Wanted } from '../waiting.ts';

const owner = 'apart' as const;

/** Ids that are easily taken for others: by case, by letters that an address encodes, by owner. */
const ids: ServiceProbe = {
  id: 'service/ids',
  area: 'service',
  phase: 'accepted',
  exercises: ['SERVICE-065', 'SERVICE-066', 'SERVICE-067'],
  cost: cost(13),
  async run(context) {
    const { service } = context;
    const first = conversation(service, 'case', { afterMs: 20_000, id: '-Ab' });
    const other = { ...first, name: 'other case', id: first.id.replace(/-Ab$/, '-aB') };
    const talks = [
      first,
      other,
      conversation(service, 'reserved', { afterMs: 21_000, id: ' ?#&+%41 \u00e9\u6ce8' }),
      conversation(service, 'slash', { afterMs: 22_000, id: '/a' }),
    ];
    for (const talk of talks) await send(context, talk);
    const wanted: Wanted[] = [];
    for (const talk of talks) {
      const closed = await context.send(end(context, `close ${talk.name}`, talk.id, owner));
      if (closed && isAccepted(closed)) wanted.push(...wantedOf(talk.id, closed));
    }
    if (wanted.length > 0) await untilScored(context, wanted, 'ids', owner);
    if (service.hasControlApi) await closeAsAnother(context);
  },
};

async function send(context: ServiceProbeContext, talk: Conversation): Promise<void> {
  const request = exportOf([chatSpan(context.service, talk)]);
  await context.send(traces(context, talk.name, request, { owner }));
}

/** Another owner tries to close a conversation before its own does. */
async function closeAsAnother(context: ServiceProbeContext): Promise<void> {
  const talk = conversation(context.service, 'own', { afterMs: 23_000 });
  await send(context, talk);
  const tried = { ...end(context, 'close of another', talk.id, 'limits'), intent: 'open' } as const;
  await context.send(tried);
  await context.send(end(context, 'close own', talk.id, owner));
}

/** The scenarios of ids that are easily taken for others. */
export const idScenarios: readonly ServiceProbe[] = [ids];
