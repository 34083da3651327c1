import { conversations } from '../close/probes.ts';
import { cost, type Step } from '../../../engine/probe.ts';
import type { ServiceProbe, ServiceProbeContext } from '../context.ts';
import { end, traces } from '../close/probes.ts';
import { chatSpan, conversation, exportOf, text, withoutKeys, type TraceExport } from '../spans.ts';
import type { Exchange } from '../../../engine/transcript/reading.ts';
import { read } from '../waiting.ts';

/** A trace request that is one edit away from its control. */
function edited(control: Exchange, step: Step, more: Partial<Step>): Step {
  return { ...step, ...more, intent: 'refuse', control };
}

const refusals: ServiceProbe = {
  id: 'service/refusals',
  area: 'service',
  phase: 'refused',
  exercises: ['SERVICE-012', 'SERVICE-020', 'SERVICE-021', 'SERVICE-022', 'SERVICE-048'],
  cost: cost(8),
  async run(context) {
    const { service } = context;
    const talk = conversation(service, 'control', {});
    const span = chatSpan(service, talk);
    const step = traces(context, 'control', exportOf([span]));
    const control = await context.send(step);
    if (!control) return;
    const nameless = exportOf([withoutKeys(span, 'gen_ai.conversation.id')]);
    const closing = end(context, 'close control', talk.id);
    const charset = { 'content-type': 'application/json; charset=utf-8' };
    await context.send({ ...step, step: 'charset', headers: charset });
    const [closed] = await Promise.all([
      context.send(closing),
      context.send(edited(control, step, { step: 'no id', body: { json: nameless } })),
      ...['text/plain', 'application/octet-stream', 'application/xml'].map((type) =>
        context.send(edited(control, step, { step: type, headers: { 'content-type': type } })),
      ),
    ]);
    if (!closed) return;
    const unknown = encodeURIComponent(conversation(service, 'never sent', {}).id);
    await context.send(edited(closed, closing, { step: 'unknown', path: unknown }));
  },
};

/** Requests without a key, and with a wrong one, beside ones with the right one. */
const keys: ServiceProbe = {
  id: 'service/keys',
  area: 'service',
  phase: 'refused',
  exercises: ['SERVICE-029', 'SERVICE-030'],
  cost: cost(13),
  async run(context) {
    const { service } = context;
    const talk = conversation(service, 'keys', {});
    const sending = traces(context, 'keys', exportOf([chatSpan(service, talk)]));
    const sent = await context.send(sending);
    if (!sent) return;
    const right = [
      end(context, 'close keys', talk.id),
      read(context, 'production', 'keys'),
      read(context, 'simulations', 'keys'),
    ];
    const answers = await Promise.all(right.map((step) => context.send(step)));
    const pairs: { step: Step; control: Exchange }[] = [];
    for (const [index, step] of right.entries()) {
      const control = answers[index];
      if (control) pairs.push({ step, control });
    }
    await Promise.all([
      ...pairs.flatMap(({ step, control }) =>
        (['none', 'wrong'] as const).map((key) =>
          context.send(edited(control, step, { step: `${key} key`, key })),
        ),
      ),
      ...(['none', 'wrong'] as const).map((key) => sendWithoutKey(context, sent, key)),
    ]);
  },
};

/** Spans without the right key, of a conversation of their own; a redirect may have kept them. */
async function sendWithoutKey(
  context: ServiceProbeContext,
  control: Exchange,
  key: 'none' | 'wrong',
): Promise<void> {
  const talk = conversation(context.service, `${key} key`, {});
  const step = traces(context, `${key} key`, exportOf([chatSpan(context.service, talk)]));
  const answer = await context.send(edited(control, step, { key }));
  const status = answer?.response?.status ?? 0;
  if (status < 300 || status >= 400) return;
  await context.send({ ...end(context, `close ${key} key`, talk.id), intent: 'open' });
}

/** Trace requests about which the specification is silent. */
function oddTraces(context: ServiceProbeContext): Step[] {
  const { service } = context;
  const talk = conversation(service, 'odd', { afterMs: -3_600_000 });
  const span = chatSpan(service, talk);
  const open = (step: string, body: NonNullable<Step['body']>, more: Partial<Step> = {}): Step => ({
    ...traces(context, step, exportOf([])),
    intent: 'open',
    body,
    ...more,
  });
  const json = (step: string, request: TraceExport): Step => open(step, { json: request });
  const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');
  const input = (value: object) => ({
    ...span,
    attributes: [
      ...withoutKeys(span, 'gen_ai.input.messages').attributes,
      { key: 'gen_ai.input.messages', value: value as { stringValue: string } },
    ],
  });
  const kvlist = [{ key: 'role', value: { stringValue: 'user' } }];
  const structured = { arrayValue: { values: [{ kvlistValue: { values: kvlist } }] } };
  return [
    json('no spans', exportOf([])),
    json('messages not JSON', exportOf([input({ stringValue: 'Where is my parcel?' })])),
    json('messages as values', exportOf([input(structured)])),
    json(
      'ids in base64',
      exportOf([{ ...span, traceId: base64(span.traceId), spanId: base64(span.spanId) }]),
    ),
    json('tag beside', exportOf([span], [text('shop', 'north')])),
    open('body not JSON', { text: '{"resourceSpans":' }),
    open('body empty', { text: '' }),
    open('body an array', { json: [] }),
    open(
      'body not protobuf',
      { bytes: Buffer.from('no protobuf') },
      { headers: { 'content-type': 'application/x-protobuf' } },
    ),
    open(
      'body not gzip',
      { bytes: Buffer.from('no gzip') },
      { headers: { 'content-encoding': 'gzip' } },
    ),
    open('encoding unknown', { text: '{}' }, { headers: { 'content-encoding': 'zstd' } }),
  ];
}

const ODD_QUERIES: Readonly<Record<string, Record<string, string>>> = {
  'limit not a number': { limit: 'many' },
  'limit 0': { limit: '0' },
  'skip negative': { skip: '-1' },
  'boolean unreadable': { failed_only: 'perhaps' },
  'time unreadable': { started_after: 'yesterday' },
  'parameter unknown': { colour: 'red' },
};

const silences: ServiceProbe = {
  id: 'service/silences',
  area: 'service',
  phase: 'refused',
  needs: [conversations],
  exercises: ['SERVICE-011'],
  cost: cost(21),
  async run(context) {
    const { service } = context;
    await Promise.all([
      ...oddTraces(context).map((step) => context.send(step)),
      ...Object.entries(ODD_QUERIES).map(([step, query]) =>
        context.send({ ...read(context, 'production', step, query), intent: 'open' }),
      ),
      context.send({
        ...read(context, 'production', 'no slash at the end'),
        intent: 'open',
        path: '/api/prod-evaluations/sessions',
      }),
    ]);
    const json = conversation(service, 'json', {});
    const again = { ...end(context, '', json.id), intent: 'open' } as const;
    await context.send({
      ...again,
      step: 'content type alone',
      headers: { 'content-type': 'application/json' },
    });
    await context.send({ ...again, step: 'a body', body: { json: { reason: 'done' } } });
    await context.send({ ...again, step: 'a body that is not JSON', body: { text: '{' } });
  },
};

/** The scenarios in which requests are refused, or may be. */
export const refusalScenarios: readonly ServiceProbe[] = [refusals, keys, silences];
