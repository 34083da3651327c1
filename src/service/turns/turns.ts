import type { JsonObject, StoredSpan } from '../store/store.ts';
import { groupSpansByTurn, type TurnSpans } from './turn-spans.ts';
import { collectHints } from './evaluation-hints.ts';
import { findAgentText, findLastUserIndex } from './messages.ts';
import { collectToolCalls, type Step, type ToolCall } from './tool-calls.ts';

export type { ToolCall } from './tool-calls.ts';

/** One exchange between user and agent. Fields that no span provides are empty or 0. */
export interface Turn {
  /** 1 for the first turn. */
  sequence: number;
  userInput: string;
  agentResponse: string;
  /** In the order of the calls. */
  toolCalls: ToolCall[];
  /** Distinct models in the order of use. */
  models: string[];
  inputTokens: number;
  outputTokens: number;
  /** A span of the turn has status ERROR. */
  failed: boolean;
  startedAtMs: number;
  /** From the start of the turn to the end of the agent's response. */
  latencyMs: number;
  /** Evaluation hints of the agent (spec 2.8). */
  evaluationMetadata?: JsonObject;
}

/**
 * Builds the turns of a conversation from its spans, in order of their start (spec 2.1). A tool loop is
 * one turn, and so is an agent invocation with everything inside it. Never throws, whatever the
 * messages contain.
 */
export function buildTurns(spans: readonly StoredSpan[]): Turn[] {
  return groupSpansByTurn(spans).map((turnSpans, index) => buildTurn(turnSpans, index + 1));
}

function buildTurn(turnSpans: TurnSpans, sequence: number): Turn {
  const { wrapper, chats, tools, spans } = turnSpans;
  const evaluationMetadata = collectHints([...spans, ...tools]);
  return {
    sequence,
    userInput: findUserInput(turnSpans),
    agentResponse: findAgentResponse(turnSpans),
    toolCalls: collectToolCalls({ wrapper, chats, tools }),
    models: listModels(turnSpans),
    inputTokens: sumTokens(turnSpans, 'gen_ai.usage.input_tokens'),
    outputTokens: sumTokens(turnSpans, 'gen_ai.usage.output_tokens'),
    failed: [...spans, ...tools].some(({ failed }) => failed),
    ...measureTimes(turnSpans),
    ...(evaluationMetadata && { evaluationMetadata }),
  };
}

/** Returns the user message of the wrapper, else of the first model call that has one. */
function findUserInput({ wrapper, chats }: TurnSpans): string {
  for (const { input } of [...toList(wrapper), ...chats]) {
    const text = input[findLastUserIndex(input)]?.text;
    if (text !== undefined && text !== '') return text;
  }
  return '';
}

/** Returns the output text of the wrapper, else of the last model call that has one. */
function findAgentResponse({ wrapper, chats }: TurnSpans): string {
  for (const { output } of [...chats, ...toList(wrapper)].reverse()) {
    const text = findAgentText(output);
    if (text !== '') return text;
  }
  return '';
}

function toList(wrapper: Step | undefined): Step[] {
  return wrapper ? [wrapper] : [];
}

/** Groups the spans with model data, best source first: wrappers repeat the data of model calls. */
function groupModelSpans({ wrapper, chats, spans }: TurnSpans): StoredSpan[][] {
  const nested = spans.filter((span) => span.operation === 'invoke_agent');
  return [chats.map(({ span }) => span), toList(wrapper).map(({ span }) => span), nested];
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

function measureTimes({ wrapper, chats }: TurnSpans): Pick<Turn, 'startedAtMs' | 'latencyMs'> {
  const spans = wrapper ? [wrapper.span] : chats.map(({ span }) => span);
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
