import { cost, type Step } from '../../../engine/probe.ts';
import type { ServiceProbe, ServiceProbeContext } from '../context.ts';
import { valueAt } from '../../../../src/contract/index.ts';
import { type Exchange, isAccepted } from '../../../engine/transcript/reading.ts';
import { about, admin, evalsOf, uploadIdOf } from '../control-probes.ts';
import {
  chatSpan,
  conversation,
  exportOf,
  forms,
  integer,
  spanBeside,
  text,
  withoutKeys,
  type Conversation,
  type TraceExport,
} from '../spans.ts';
import { read, untilScored, windowOf, type Wanted } from '../waiting.ts';
import type { OwnerName } from '../context.ts';

const DAY_MS = 86_400_000;

/** When the conversation starts that is in the middle of the others. */
export const RESENT_AFTER_MS = 4_000;

/** A trace request that must be taken; JSON unless another form is named. */
export function traces(
  { service }: ServiceProbeContext,
  step: string,
  request: TraceExport,
  more: { form?: string; owner?: OwnerName } = {},
): Step {
  const form = forms[more.form ?? 'json'] ?? forms['json'];
  return {
    endpoint: 'traces',
    step,
    intent: 'valid',
    ...form?.(request),
    ...service.keyFor(more.owner ?? 'main'),
  };
}

/** An end call that must be taken. */
export function end(
  { service }: ServiceProbeContext,
  step: string,
  id: string,
  owner: OwnerName = 'main',
): Step {
  return {
    endpoint: 'end',
    step,
    intent: 'valid',
    path: encodeURIComponent(id),
    ...service.keyFor(owner),
  };
}

/** What a conversation consists of, and the requests that carry it. */
interface Plot {
  talk: Conversation;
  requests: Step[];
}

function plotsOf(context: ServiceProbeContext): Plot[] {
  const { service } = context;
  const talk = (name: string, afterMs: number, isPromised = true): Conversation =>
    conversation(service, name, { afterMs, isPromised });
  const one = (the: Conversation, form = 'json'): Plot => ({
    talk: the,
    requests: [traces(context, the.name, exportOf([chatSpan(service, the)]), { form })],
  });
  const again = talk('re-sent', RESENT_AFTER_MS, false);
  const resent = exportOf([chatSpan(service, again)]);
  return [
    severalTurns(context, talk('json', 0)),
    one(talk('protobuf', 1000, false), 'protobuf'),
    one(talk('gzip', 1000), 'gzip'),
    one(talk('gzip protobuf', 2000, false), 'gzipProtobuf'),
    byHeader(context, talk('header', 3000)),
    {
      talk: again,
      requests: [traces(context, 're-sent', resent), traces(context, 're-sent again', resent)],
    },
    besideIgnored(context, talk('ignored', 5000)),
    withTools(context, talk('tools', 6000)),
    failed(context, { ...talk('failed', 7000, false), thing: 'order' }),
    wrapped(context, talk('wrapper', 8000)),
  ];
}

/** Three turns in two requests, so that only the id says that they belong together. */
function severalTurns(context: ServiceProbeContext, talk: Conversation): Plot {
  const span = (turn: number) => chatSpan(context.service, talk, turn);
  return {
    talk,
    requests: [
      traces(context, 'json', exportOf([span(1), span(2)])),
      traces(context, 'json again', exportOf([span(3)])),
    ],
  };
}

function byHeader(context: ServiceProbeContext, talk: Conversation): Plot {
  const span = withoutKeys(chatSpan(context.service, talk), 'gen_ai.conversation.id');
  const step = traces(context, 'header', exportOf([span]));
  return { talk, requests: [{ ...step, headers: { 'x-conversation-id': talk.id } }] };
}

/** A turn and a span that is none, since it has no operation name. */
function besideIgnored(context: ServiceProbeContext, talk: Conversation): Plot {
  const { service } = context;
  const other = spanBeside(service, talk, 'GET /orders', [
    text('gen_ai.conversation.id', talk.id),
    text('http.request.method', 'GET'),
  ]);
  return {
    talk,
    requests: [traces(context, 'ignored', exportOf([chatSpan(service, talk), other]))],
  };
}

function withTools(context: ServiceProbeContext, talk: Conversation): Plot {
  const { service } = context;
  const chat = chatSpan(service, talk);
  const tool = spanBeside(service, talk, 'execute_tool look_up', [
    text('gen_ai.conversation.id', talk.id),
    text('gen_ai.operation.name', 'execute_tool'),
    text('gen_ai.tool.name', 'look_up'),
    text('gen_ai.tool.call.arguments', '{"parcel":17}'),
    text('gen_ai.tool.call.result', '{"status":"shipped"}'),
  ]);
  const full = {
    ...chat,
    status: { code: 1 },
    attributes: [
      ...chat.attributes,
      text('gen_ai.request.model', 'model-a'),
      text('gen_ai.response.model', 'model-a-1'),
      integer('gen_ai.usage.input_tokens', 12),
      integer('gen_ai.usage.output_tokens', 34),
      text('shop.region', 'north'),
    ],
  };
  const request = exportOf(
    [full, { ...tool, parentSpanId: chat.spanId }],
    [text('deployment.environment.name', 'test')],
  );
  return { talk, requests: [traces(context, 'tools', request)] };
}

function failed(context: ServiceProbeContext, talk: Conversation): Plot {
  const span = chatSpan(context.service, talk, 1, { status: { code: 2 } });
  return { talk, requests: [traces(context, 'failed', exportOf([span]))] };
}

/** A turn in its wrapper; whether that is one turn or two is not said. */
function wrapped(context: ServiceProbeContext, talk: Conversation): Plot {
  const { service } = context;
  const chat = chatSpan(service, talk);
  const wrapper = spanBeside(service, talk, 'invoke_agent', [
    text('gen_ai.operation.name', 'invoke_agent'),
    ...chat.attributes.filter(({ key }) => key !== 'gen_ai.operation.name'),
  ]);
  const spans = [wrapper, { ...chat, parentSpanId: wrapper.spanId }];
  return { talk, requests: [traces(context, 'wrapper', exportOf(spans))] };
}

/** Sends a conversation and closes it; what is to be seen of it where it is scored. */
async function play(context: ServiceProbeContext, { talk, requests }: Plot): Promise<Wanted[]> {
  for (const step of requests) await context.send(step);
  const closed = await context.send(end(context, `close ${talk.name}`, talk.id));
  return closed ? wantedOf(talk.id, closed) : [];
}

/** A conversation whose close queued evals is to be listed with as many. */
export function wantedOf(id: string, closed: Exchange): Wanted[] {
  const queued = isAccepted(closed) && valueAt(closed.json, '/evaluations_queued');
  return typeof queued === 'number' && queued > 0 ? [{ id, evaluations: queued }] : [];
}

export const conversations: ServiceProbe = {
  id: 'service/conversations',
  area: 'service',
  phase: 'accepted',
  exercises: ['SERVICE-001', 'SERVICE-002', 'SERVICE-003', 'SERVICE-040', 'SERVICE-087'],
  cost: cost(29),
  async run(context) {
    const { service } = context;
    const old = conversation(service, 'old', { afterMs: -3 * DAY_MS });
    // The oldest first, so that it is the oldest by whatever time a service goes by.
    const first = await play(context, {
      talk: old,
      requests: [traces(context, 'old', exportOf([chatSpan(service, old)]))],
    });
    const plots = plotsOf(context);
    const rest = await Promise.all(plots.map((plot) => play(context, plot)));
    const alone = conversation(service, 'ignored alone', {});
    const ignored = spanBeside(service, alone, 'GET /orders', [
      text('gen_ai.conversation.id', alone.id),
    ]);
    await context.send(traces(context, 'ignored alone', exportOf([ignored])));
    const [json] = plots;
    if (json) await context.send(end(context, 'close again', json.talk.id));
    const uploaded = service.hasControlApi ? [{ id: uploadIdOf(service), evaluations: 1 }] : [];
    await untilScored(context, [...first, ...rest.flat(), ...uploaded]);
  },
};

/** Closing without evals, with a deleted one, and under a run name of its own. */
const settings: ServiceProbe = {
  id: 'service/settings',
  area: 'service',
  phase: 'accepted',
  exercises: ['SERVICE-051', 'SERVICE-053', 'SERVICE-057'],
  cost: cost(10),
  async run(context) {
    const { service } = context;
    if (!service.hasControlApi) return;
    const [bare] = await Promise.all(
      (['bare', 'deleted', 'named'] as const).map((owner) => closeAs(context, owner)),
    );
    const evals = evalsOf(service);
    const live = { evals, settings: { evals: evals.map(({ id }) => id) } };
    await context.send(admin('evals for bare', `/seed${about(service, 'bare')}`, live));
    await context.send(end(context, 'close bare again', bare?.id ?? '', 'bare'));
    await context.send(admin('drain', '/drain'));
    await context.send(read(context, 'production', 'bare', windowOf(service), 'bare'));
  },
};

/** Sends a conversation as another owner, and closes it. */
export async function closeAs(
  context: ServiceProbeContext,
  owner: OwnerName,
): Promise<Conversation> {
  const talk = conversation(context.service, owner, {});
  const request = exportOf([chatSpan(context.service, talk)]);
  await context.send(traces(context, owner, request, { owner }));
  await context.send(end(context, `close ${owner}`, talk.id, owner));
  return talk;
}

/** The scenarios in which conversations are sent, closed and scored. */
export const conversationScenarios: readonly ServiceProbe[] = [conversations, settings];
