import type { SpanLink, StoredSpan } from '../store/records.ts';
import { collectHints } from './evaluation-hints.ts';
import { findAgentText, findLastUserIndex } from './messages.ts';
import { collectToolCalls } from './tool-calls.ts';
import type { Segment, Step, TurnSpans } from './turn-parts.ts';
import { groupSpansByTurn } from './turn-spans.ts';
import type { TracedTurn } from './turn-types.ts';

/**
 * Builds the turns of a conversation from its spans, in order (spec 2.1). `links` are
 * the ignored spans of its traces. A tool loop is one turn, and so is an agent invocation with
 * everything inside it. If any turn has text, empty turns are left out, because instrumentations also
 * record empty wrappers. Never throws, even if messages are malformed.
 */
export function buildTurns(
  spans: readonly StoredSpan[],
  links: readonly SpanLink[] = [],
): TracedTurn[] {
  return buildParts(spans, links).map(({ turn }) => turn);
}

/** A turn on a page, with its number in evals; without one if evals do not see it. */
type NumberedTurn = Omit<TracedTurn, 'sequence'> & { sequence: number | undefined };

/**
 * Builds the turns as evals see them, without late spans, and as pages show them. A turn that evals see
 * has the same number in both, and late turns have none. If a late span encloses several turns that evals
 * see, pages show these turns instead of the one that it makes of them.
 */
export function buildTranscript(
  spans: readonly StoredSpan[],
  links: readonly SpanLink[] = [],
): { scored: TracedTurn[]; shown: NumberedTurn[] } {
  const parts = buildParts(
    spans.filter(({ late }) => !late),
    links,
  );
  const scored = parts.map(({ turn }) => turn);
  if (!spans.some(({ late }) => late)) return { scored, shown: scored };
  const byLead = new Map(parts.map((part) => [part.spans[0], part.turn]));
  const shown = buildParts(spans, links, byLead).flatMap((part): NumberedTurn[] => {
    const { late = 'part', ...turn } = part.turn;
    const inside = part.spans.flatMap((span) => byLead.get(span) ?? []);
    const [first, ...others] = inside.sort((a, b) => a.sequence - b.sequence);
    if (!first) return [{ ...turn, late, sequence: undefined }];
    if (others.length === 0) return [{ ...part.turn, sequence: first.sequence }];
    return [first, ...others].map((each) => ({ ...each, late: 'part' }));
  });
  return { scored, shown };
}

/** A turn with its spans, except for tools; the first span of the turn is first. */
interface BuiltTurn {
  turn: TracedTurn;
  spans: readonly StoredSpan[];
}

/** Builds turns with their spans. Those with a span of `kept` are not left out, even if they are empty. */
function buildParts(
  spans: readonly StoredSpan[],
  links: readonly SpanLink[],
  kept: ReadonlyMap<unknown, unknown> = new Map(),
): BuiltTurn[] {
  const parts = groupSpansByTurn(spans, links).map((group) => ({
    turn: buildTurn(group),
    spans: group.spans,
  }));
  const visible = parts.some(({ turn }) => hasText(turn))
    ? parts.filter((part) => showsAnything(part.turn) || part.spans.some((span) => kept.has(span)))
    : parts;
  return visible.map(({ turn, ...part }, index) => ({
    ...part,
    turn: { ...turn, sequence: index + 1 },
  }));
}

function hasText({ userInput, agentResponse }: TracedTurn): boolean {
  return userInput !== '' || agentResponse !== '';
}

function showsAnything(turn: TracedTurn): boolean {
  return hasText(turn) || turn.toolCalls.length > 0 || turn.failed;
}

function buildTurn(turnSpans: TurnSpans): TracedTurn {
  const { segments, tools, spans } = turnSpans;
  const evaluationMetadata = collectHints([...spans, ...tools]);
  const late = findLateness([...spans, ...tools]);
  return {
    sequence: 0,
    userInput: findUserInput(turnSpans),
    agentResponse: findAgentResponse(turnSpans),
    toolCalls: collectToolCalls({ segments, tools }),
    models: listModels(turnSpans),
    inputTokens: sumTokens(turnSpans, 'gen_ai.usage.input_tokens'),
    outputTokens: sumTokens(turnSpans, 'gen_ai.usage.output_tokens'),
    failed: [...spans, ...tools].some(({ failed }) => failed),
    ...measureTimes(turnSpans),
    ...(evaluationMetadata && { evaluationMetadata }),
    ...(late && { late }),
  };
}

function findLateness(spans: readonly StoredSpan[]): TracedTurn['late'] {
  if (!spans.some(({ late }) => late)) return undefined;
  return spans.every(({ late }) => late) ? 'all' : 'part';
}

/** Returns the first user message: in each segment, the wrapper's or else that of a model call. */
function findUserInput({ segments }: TurnSpans): string {
  for (const { input } of segments.flatMap(listSteps)) {
    const text = input[findLastUserIndex(input)]?.text;
    if (text !== undefined && text !== '') return text;
  }
  return '';
}

/** Returns the last output text: in each segment, the wrapper's or else that of a model call. */
function findAgentResponse({ segments }: TurnSpans): string {
  for (const { wrapper, chats } of segments.toReversed()) {
    for (const { output } of listSteps({ wrapper, chats: chats.toReversed() })) {
      const text = findAgentText(output);
      if (text !== '') return text;
    }
  }
  return '';
}

function listSteps({ wrapper, chats }: Segment): Step[] {
  return wrapper ? [wrapper, ...chats] : chats;
}

/** Groups the spans with model data, best source first: wrappers repeat the data of model calls. */
function groupModelSpans({ segments, spans }: TurnSpans): StoredSpan[][] {
  const chats = segments.flatMap((segment) => segment.chats);
  const wrappers = segments.flatMap(({ wrapper }) => wrapper ?? []);
  const nested = spans.filter((span) => span.operation === 'invoke_agent');
  return [chats.map(({ span }) => span), wrappers.map(({ span }) => span), nested];
}

function listModels(turnSpans: TurnSpans): string[] {
  for (const group of groupModelSpans(turnSpans)) {
    const models = group.flatMap(({ attributes }) => {
      const candidates = [attributes['gen_ai.response.model'], attributes['gen_ai.request.model']];
      return candidates.find((model) => typeof model === 'string' && model !== '') ?? [];
    });
    if (models.length > 0) return [...new Set(models.map(String))];
  }
  return [];
}

/** Sums tokens over the first group that has any, because wrappers repeat the counts of their steps. */
function sumTokens(turnSpans: TurnSpans, key: string): number {
  for (const group of groupModelSpans(turnSpans)) {
    const counts = group.map(({ attributes }) => toTokenCount(attributes[key]));
    const known = counts.filter((count) => count !== undefined);
    if (known.length > 0) return known.reduce((sum, count) => sum + count, 0);
  }
  return 0;
}

function toTokenCount(value: unknown): number | undefined {
  const count = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof count === 'number' && Number.isFinite(count) && count >= 0 ? count : undefined;
}

function measureTimes({ segments }: TurnSpans): Pick<TracedTurn, 'startedAtMs' | 'latencyMs'> {
  const steps = segments.flatMap(({ wrapper, chats }) => wrapper ?? chats);
  const spans = steps.map(({ span }) => span);
  const startNs = spans[0]?.startNs ?? 0n;
  const endNs = spans.reduce(
    (latest, span) => (span.endNs > latest ? span.endNs : latest),
    startNs,
  );
  return {
    startedAtMs: Number(startNs / 1_000_000n),
    latencyMs: Number(endNs - startNs) / 1_000_000,
  };
}
