import type { JsonObject, StoredSpan } from '../store/store.ts';
import { groupSpansByTurn, type TurnSpans } from './turn-spans.ts';
import { collectHints } from './evaluation-hints.ts';
import { agentText, lastUserIndex } from './messages.ts';
import { collectToolCalls, type Step, type ToolCall } from './tool-calls.ts';

export type { ToolCall } from './tool-calls.ts';

/** One exchange between user and agent. What no span told is empty or 0. */
export interface Turn {
  /** 1 for the first. */
  sequence: number;
  userInput: string;
  agentResponse: string;
  /** In the order in which they were made. */
  toolCalls: ToolCall[];
  /** Each model once, in the order in which they were used. */
  models: string[];
  inputTokens: number;
  outputTokens: number;
  /** A span of the turn has status ERROR. */
  failed: boolean;
  startedAtMs: number;
  /** From the user's word to the end of the agent's answer. */
  latencyMs: number;
  /** What the agent hinted at (spec 2.8), where it did. */
  evaluationMetadata?: JsonObject;
}

/**
 * The turns that the spans of one conversation make, in the order in which they began, whatever the
 * order of the spans (spec 2.1). A tool loop is one turn, and so is an agent's invocation with all
 * that happens inside. Takes any content of messages; never throws.
 */
export function buildTurns(spans: readonly StoredSpan[]): Turn[] {
  return groupSpansByTurn(spans).map((episode, index) => turnOf(episode, index + 1));
}

function turnOf(episode: TurnSpans, sequence: number): Turn {
  const { wrapper, chats, tools, spans } = episode;
  const evaluationMetadata = collectHints([...spans, ...tools]);
  return {
    sequence,
    userInput: userInput(episode),
    agentResponse: agentResponse(episode),
    toolCalls: collectToolCalls({ wrapper, chats, tools }),
    models: modelsOf(episode),
    inputTokens: tokens(episode, 'gen_ai.usage.input_tokens'),
    outputTokens: tokens(episode, 'gen_ai.usage.output_tokens'),
    failed: [...spans, ...tools].some(({ failed }) => failed),
    ...timesOf(episode),
    ...(evaluationMetadata && { evaluationMetadata }),
  };
}

/** What the wrapper was given; else the first model call that the user's word reached. */
function userInput({ wrapper, chats }: TurnSpans): string {
  for (const { input } of [...stepsOf(wrapper), ...chats]) {
    const text = input[lastUserIndex(input)]?.text;
    if (text !== undefined && text !== '') return text;
  }
  return '';
}

/** What the wrapper gave back; else the last words of a model. */
function agentResponse({ wrapper, chats }: TurnSpans): string {
  for (const { output } of [...chats, ...stepsOf(wrapper)].reverse()) {
    const text = agentText(output);
    if (text !== '') return text;
  }
  return '';
}

function stepsOf(wrapper: Step | undefined): Step[] {
  return wrapper ? [wrapper] : [];
}

/** The spans that tell of models: the model calls; wrappers repeat what those say. */
function tellers({ wrapper, chats, spans }: TurnSpans): StoredSpan[][] {
  const nested = spans.filter((span) => span.operation === 'invoke_agent');
  return [chats.map(({ span }) => span), stepsOf(wrapper).map(({ span }) => span), nested];
}

function modelsOf(episode: TurnSpans): string[] {
  for (const group of tellers(episode)) {
    const models = group.flatMap(({ attributes }) => {
      const named = [attributes['gen_ai.response.model'], attributes['gen_ai.request.model']];
      return named.find((model) => typeof model === 'string' && model !== '') ?? [];
    });
    if (models.length > 0) return [...new Set(models.map(String))];
  }
  return [];
}

/** The sum over the first of the groups that counts at all: wrappers count what their steps did. */
function tokens(episode: TurnSpans, key: string): number {
  for (const group of tellers(episode)) {
    const counts = group.map(({ attributes }) => countOf(attributes[key]));
    const told = counts.filter((count) => count !== undefined);
    if (told.length > 0) return told.reduce((sum, count) => sum + count, 0);
  }
  return 0;
}

function countOf(value: unknown): number | undefined {
  const count = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof count === 'number' && Number.isFinite(count) && count >= 0 ? count : undefined;
}

function timesOf({ wrapper, chats }: TurnSpans): Pick<Turn, 'startedAtMs' | 'latencyMs'> {
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
