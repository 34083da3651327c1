import { gzipSync } from 'node:zlib';
import { conversations, probeIdleClose } from '../close/probes.ts';
import type { ServiceProbe, ServiceProbeContext } from '../context.ts';
import {
  createEndStep,
  createRefusedStep,
  createResultsStep,
  createTracesStep,
  expectedSessions,
} from '../requests.ts';
import {
  createChatSpan,
  createConversation,
  createTraceExport,
  stringAttribute,
  type Span,
  type TraceExport,
  valuesOfEveryType,
  withoutAttributes,
} from '../spans.ts';
import { NO_SLASH_PATH, NO_SLASH_STEP } from '../results/evidence.ts';
import { NO_TYPE, otherTypes } from './refusals.ts';
import type { EndStep, TracesStep } from '../steps.ts';
import { VALUES_STEP } from './trace-requests.ts';
import { cost, type Step } from '../../../engine/probe.ts';
import { INGEST_BODY_BYTES_MAX } from '../../../../src/contract/index.ts';
import { HOUR_MS } from '../../../../src/platform/clock.ts';
import type { Random } from '../../../../src/platform/random.ts';

/** Sends trace requests and an end call that the service must refuse, next to accepted ones. */
export const refusals: ServiceProbe = {
  id: 'service/refusals',
  area: 'service',
  phase: 'refused',
  cost: cost(14),
  async run(context) {
    const { service } = context;
    const conversation = createConversation(service, 'control');
    const span = createChatSpan(service, conversation);
    const request = createTracesStep(context, 'control', createTraceExport([span]));
    const control = await context.send(request);
    if (!control) return;
    // A service could accept the span only because it knows its id.
    const other = createChatSpan(service, conversation, 2);
    const withoutId = createTraceExport([withoutAttributes(other, 'gen_ai.conversation.id')]);
    const close = createEndStep(context, 'close control', conversation.id);
    await context.send({
      ...request,
      step: 'charset',
      headers: { 'content-type': 'application/json; charset=utf-8' },
    });
    const [closed] = await Promise.all([
      context.send(close),
      context.send(
        createRefusedStep(control, request, { step: 'no id', body: { json: withoutId } }),
      ),
      ...otherTypes.map((type) =>
        context.send(
          createRefusedStep(control, request, { step: type, headers: { 'content-type': type } }),
        ),
      ),
      context.send(
        createRefusedStep(control, request, { step: NO_TYPE, headers: { 'content-type': '' } }),
      ),
    ]);
    if (!closed) return;
    service.awaited.push(...expectedSessions(conversation, closed));
    const { id: unknownId } = createConversation(service, 'never sent');
    const unknownIds: [step: EndStep, id: string][] = [
      // A service could create the conversation on the first call.
      ['unknown', unknownId],
      ['unknown again', unknownId],
      ['prefix of a known id', conversation.id.slice(0, -1)],
      ['known id in other case', conversation.id.toUpperCase()],
    ];
    for (const [step, id] of unknownIds) {
      await context.send(createRefusedStep(closed, close, { step, path: encodeURIComponent(id) }));
    }
  },
};

/** Returns trace requests that the specification does not mention. */
function createUnusualTraces(context: ServiceProbeContext): Step[] {
  const { service } = context;
  const conversation = createConversation(service, 'odd', { offsetMs: -HOUR_MS });
  const span = createChatSpan(service, conversation);
  const other = createChatSpan(service, conversation, 2);
  const withBody = (
    step: TracesStep,
    body: NonNullable<Step['body']>,
    headers?: Record<string, string>,
  ): Step => ({
    ...createTracesStep(context, step, createTraceExport([])),
    intent: 'open',
    body,
    ...(headers && { headers }),
  });
  const withExport = (step: TracesStep, request: TraceExport): Step =>
    withBody(step, { json: request });
  const toBase64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');
  const withInput = (value: object) => ({
    ...span,
    attributes: [
      ...withoutAttributes(span, 'gen_ai.input.messages').attributes,
      { key: 'gen_ai.input.messages', value: value as { stringValue: string } },
    ],
  });
  const message = { kvlistValue: { values: [{ key: 'role', value: { stringValue: 'user' } }] } };
  const base64Ids = { traceId: toBase64(span.traceId), spanId: toBase64(span.spanId) };
  return [
    withExport('no spans', createTraceExport([])),
    withExport(
      'messages not JSON',
      createTraceExport([withInput({ stringValue: 'Where is my parcel?' })]),
    ),
    withExport(
      'messages as values',
      createTraceExport([withInput({ arrayValue: { values: [message] } })]),
    ),
    withExport('ids in base64', createTraceExport([{ ...span, ...base64Ids }])),
    createTracesStep(
      context,
      VALUES_STEP,
      createTraceExport(
        [{ ...other, attributes: [...other.attributes, ...valuesOfEveryType] }],
        valuesOfEveryType,
      ),
    ),
    withBody('body not JSON', { text: '{"resourceSpans":' }),
    withBody('body empty', { text: '' }),
    withBody('body an array', { json: [] }),
    withBody('body an empty object', { json: {} }),
    withBody(
      'body not protobuf',
      { bytes: Buffer.from('no protobuf') },
      { 'content-type': 'application/x-protobuf' },
    ),
    withBody('body not gzip', { bytes: Buffer.from('no gzip') }, { 'content-encoding': 'gzip' }),
    withBody('encoding unknown', { text: '{}' }, { 'content-encoding': 'zstd' }),
  ];
}

/** Invalid and unknown query parameters of the results endpoints. */
const unusualQueries = [
  ['limit not a number', { limit: 'many' }],
  ['limit 0', { limit: '0' }],
  ['skip negative', { skip: '-1' }],
  ['boolean unreadable', { failed_only: 'perhaps' }],
  ['time unreadable', { started_after: 'yesterday' }],
  ['parameter unknown', { colour: 'red' }],
] as const;

/** Sends requests that the specification does not mention, to all endpoints. */
export const unspecified: ServiceProbe = {
  id: 'service/silences',
  area: 'service',
  phase: 'refused',
  needs: [conversations],
  cost: cost(22),
  async run(context) {
    const { service } = context;
    await Promise.all([
      ...createUnusualTraces(context).map((request) => context.send(request)),
      ...unusualQueries.map(([step, query]) =>
        context.send({ ...createResultsStep(context, 'production', step, query), intent: 'open' }),
      ),
      context.send({
        ...createResultsStep(context, 'production', NO_SLASH_STEP),
        intent: 'open',
        path: NO_SLASH_PATH,
      }),
    ]);
    const { id } = createConversation(service, 'json');
    const closeAgain = (step: EndStep, edit: Partial<Step>): Step => ({
      ...createEndStep(context, step, id),
      ...edit,
      intent: 'open',
    });
    const jsonType = { 'content-type': 'application/json' };
    await context.send(closeAgain('content type alone', { headers: jsonType }));
    await context.send(closeAgain('a body', { body: { json: { reason: 'done' } } }));
    await context.send(closeAgain('a body that is not JSON', { body: { text: '{' } }));
  },
};

/** "10 MB" may mean 10 million bytes or 10 MiB. */
const TEN_MEGABYTES = 10_000_000;
const MARGIN_BYTES = 500_000;
/** More than the default limit of many frameworks for a body. */
const INFLATED_BYTES = 3_000_000;

/** Sends bodies just below and above 10 MB, and one that becomes large when it is inflated. */
async function probeBodySizes(
  context: ServiceProbeContext,
  request: Step,
  spans: readonly Span[],
): Promise<void> {
  const { body: plain } = request;
  const text = plain && 'json' in plain ? JSON.stringify(plain.json) : '';
  // Trailing white space makes the body larger without changing its meaning.
  const pad = (bytes: number): string => text.padEnd(bytes, ' ');
  const control = await context.send({
    ...request,
    step: 'under 10 MB',
    body: { text: pad(TEN_MEGABYTES - MARGIN_BYTES) },
  });
  if (!control) return;
  await context.send(createLargeProtobuf(context, spans));
  await context.send({
    ...request,
    step: 'gzip of 3 MB',
    // The text comes last, so that nothing is left of a body that is cut.
    body: { bytes: gzipSync(createWhiteSpace(context.random) + text) },
    headers: { 'content-encoding': 'gzip' },
  });
  const tooLarge = pad(INGEST_BODY_BYTES_MAX + MARGIN_BYTES);
  const body = { text: tooLarge };
  await context.send(createRefusedStep(control, request, { step: 'over 10 MB', body }));
  const headers = { 'transfer-encoding': 'chunked' };
  await context.send(
    createRefusedStep(control, request, { step: 'over 10 MB in chunks', body, headers }),
  );
  await context.send({
    ...request,
    step: 'inflates to over 10 MB',
    intent: 'open',
    body: { bytes: gzipSync(tooLarge) },
    headers: { 'content-encoding': 'gzip' },
  });
}

/**
 * Returns white space that gzip makes about 20 times smaller, as it does with text: some servers refuse
 * what inflates a thousandfold. The lines repeat only after more bytes than gzip looks back.
 */
function createWhiteSpace(random: Random): string {
  const lines = Array.from({ length: 1_000 }, () => `${' '.repeat(random.integer(20, 99))}\n`);
  const block = lines.join('');
  return block.repeat(Math.ceil(INFLATED_BYTES / block.length));
}

/** Returns a protobuf request that a span without an operation name, which is ignored, makes large. */
function createLargeProtobuf(context: ServiceProbeContext, spans: readonly Span[]): Step {
  const text = 'x'.repeat(TEN_MEGABYTES - MARGIN_BYTES);
  const large = spans.map((span) => ({
    ...span,
    spanId: span.spanId.replace(/^b/, 'd'),
    attributes: [stringAttribute('http.response.body', text)],
  }));
  const request = createTraceExport([...spans, ...large]);
  return createTracesStep(context, 'protobuf under 10 MB', request, {
    encoding: 'protobuf',
    owner: 'limits',
  });
}

/** Sends large bodies and lets a conversation become idle. */
export const limits: ServiceProbe = {
  id: 'service/limits',
  area: 'service',
  phase: 'cleanup',
  // The run of an idle conversation is compared with that of another one.
  needs: [conversations],
  intrusive: true,
  cost: cost(17),
  async run(context) {
    const { service } = context;
    const conversation = createConversation(service, 'limits', { offsetMs: -HOUR_MS });
    const spans = [createChatSpan(service, conversation)];
    const request = createTraceExport(spans);
    const step = createTracesStep(context, 'limits', request, { owner: 'limits' });
    await probeBodySizes(context, step, spans);
    if (service.hasControlApi) await probeIdleClose(context);
  },
};
