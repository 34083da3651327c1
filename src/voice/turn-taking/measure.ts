import type { TurnTaking } from '../../contract/index.ts';
import type { SpeechSpan } from '../speech-span.ts';
import { findPercentile } from '../../platform/percentile.ts';
import type { AgentLane } from './agent-lane.ts';

/** Something that the caller said, from its first to its last sound. */
export interface Utterance extends SpeechSpan {
  /** The turn of the utterance, starting at 1. */
  turn: number;
  kind: 'line' | 'interruption' | 'backchannel';
  /** The planned pauses within it. */
  pauses: readonly SpeechSpan[];
  /** Whether the agent took back words of its text that the caller did not hear. */
  corrected?: boolean;
}

/** Both sides of a call. All times are in milliseconds on one monotonic clock. */
export interface CallLanes {
  /** The start of the recording. The times of the result count from it. */
  originMs: number;
  agent: AgentLane;
  /** In order. */
  caller: readonly Utterance[];
  /** Times when the caller was not ready to speak. They are not dead air. */
  notReady: readonly SpeechSpan[];
  /** How long the caller waited for a greeting that did not come. */
  missedGreeting?: SpeechSpan | undefined;
  /** When the call ended. */
  endMs: number;
  /**
   * Why delays of this process make the measurement unreliable, and the longest of them; undefined if
   * they don't.
   */
  localDelay?: { reason: string; lateMs: number } | undefined;
}

/** Less time than this at the edge of a line is within the error of the measurement. */
const EDGE_MS = 60;
/** Both sides may start at almost the same moment without having heard each other. */
const COLLISION_MS_MAX = 200;
/** An agent that is silent for this long while the caller speaks has yielded. */
const YIELD_SILENCE_MS = 700;
/** A shorter silence after the interruption is a pause between two sentences of the same speech. */
const SENTENCE_PAUSE_MS_MAX = 500;
/** An agent may need this long after the interruption to stop. */
export const YIELD_AFTER_MS_MAX = 1_000;
/** A pause leads to a reply up to this much later, because the agent needs time to speak. */
const AFTER_PAUSE_MS_MAX = 500;
/** An agent that a backchannel stops does so within this time. */
const BACKCHANNEL_STOP_MS_MAX = 1_000;
/** From this silence on, an agent may have stopped, and answered soon; it may also have paused. */
const UNCLEAR_SILENCE_MS_MIN = 300;
/** Shorter silences are not in the measurement. */
export const DEAD_AIR_MS_MIN = 2_000;
/** After a line, the caller waits at least this long before the reply counts as missing. */
const REPLY_WAIT_MS_MIN = 1_000;
const EVENTS_MAX = 1_000;

type TurnTakingEvent = TurnTaking['events'][number];

/** Measures how the two sides of a call took turns. */
export function measureTurnTaking(lanes: CallLanes): TurnTaking {
  const { originMs, agent, caller, missedGreeting, localDelay } = lanes;
  const lines = caller.filter(({ kind }) => kind !== 'backchannel');
  const turns = lines.map((line, nth) => measureTurn(line, lines[nth + 1], lanes));
  const responses = turns.flatMap(({ line, responseMs }) =>
    responseMs === undefined ? [] : [{ turn: line.turn, response_ms: Math.round(responseMs) }],
  );
  const interruptions = turns.filter(({ line }) => line.kind === 'interruption');
  const backchannels = caller.filter(({ kind }) => kind === 'backchannel');
  const silences = findDeadAir(lanes);
  const event =
    (kind: TurnTakingEvent['kind']) =>
    ({ startMs, endMs }: SpeechSpan): TurnTakingEvent => ({
      kind,
      at_ms: Math.max(0, Math.round(startMs - originMs)),
      duration_ms: Math.max(0, Math.round(endMs - startMs)),
    });
  const missed = [
    ...(missedGreeting ? [missedGreeting] : []),
    ...turns.filter(({ isMissed }) => isMissed).map(({ line }) => line),
  ];
  const early = turns.flatMap(({ agentInterruptions }) => agentInterruptions);
  const inPauses = turns.flatMap(({ falseEndpoints }) => falseEndpoints);
  const events = [
    ...interruptions.map(({ line }) => event('interruption')(line)),
    ...backchannels.map(event('backchannel')),
    ...lines.flatMap(({ pauses }) => pauses.map(event('pause'))),
    ...early.map(event('agent_interruption')),
    ...inPauses.map(event('false_endpoint')),
    ...missed.map(event('missed_turn')),
    ...silences.map(event('dead_air')),
    ...agent.gaps.map(event('gap')),
  ];
  const sumMs = (spans: readonly SpeechSpan[]): number =>
    Math.round(spans.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0));
  return {
    response_ms: summarizeMs(responses.map(({ response_ms: ms }) => ms)),
    responses,
    interruptions: interruptions.map(({ line, yieldMs = null }) => ({
      turn: line.turn,
      at_ms: event('interruption')(line).at_ms,
      yield_ms: yieldMs === null ? null : Math.round(yieldMs),
      ...(line.corrected && { corrected: true }),
    })),
    backchannels: backchannels.map((backchannel) => ({
      at_ms: event('backchannel')(backchannel).at_ms,
      stopped_agent: hasStoppedAgent(backchannel, lines, agent.speech),
    })),
    overlap_ms: sumMs(lines.flatMap((line) => findOverlaps(line, agent.speech))),
    agent_interruptions: early.length,
    false_endpoints: inPauses.length,
    missed_turns: missed.length,
    dead_air_ms: sumMs(silences),
    gaps: agent.gaps.length,
    events: events.toSorted((a, b) => a.at_ms - b.at_ms).slice(0, EVENTS_MAX),
    ...(localDelay && {
      not_proven: { reason: localDelay.reason, late_ms: Math.ceil(localDelay.lateMs) },
    }),
  };
}

/** Returns percentiles in whole milliseconds; null without a value. */
export function summarizeMs(values: readonly number[]): TurnTaking['response_ms'] {
  if (values.length === 0) return null;
  const at = (percent: number): number => Math.round(findPercentile(values, percent) ?? 0);
  return { p50: at(50), p95: at(95), max: at(100) };
}

interface MeasuredTurn {
  line: Utterance;
  /** Undefined if no reply began after the line. */
  responseMs: number | undefined;
  /** Only for an interruption; undefined if the agent did not yield. */
  yieldMs: number | undefined;
  isMissed: boolean;
  agentInterruptions: SpeechSpan[];
  falseEndpoints: SpeechSpan[];
}

function measureTurn(line: Utterance, next: Utterance | undefined, lanes: CallLanes): MeasuredTurn {
  const { speech } = lanes.agent;
  const untilMs = next?.startMs ?? Infinity;
  const yieldMs = line.kind === 'interruption' ? findYieldMs(line, speech) : undefined;
  const hasYielded = line.kind !== 'interruption' || yieldMs !== undefined;
  const onsets = speech.filter(
    ({ startMs }) => startMs > line.startMs + COLLISION_MS_MAX && startMs < line.endMs - EDGE_MS,
  );
  // An agent that does not stop also starts sentences within the interruption.
  const starts = onsets.filter(
    ({ startMs }) =>
      line.kind !== 'interruption' ||
      (yieldMs !== undefined && startMs > line.startMs + yieldMs + EDGE_MS),
  );
  const isInPause = ({ startMs }: SpeechSpan): boolean =>
    line.pauses.some(
      (pause) => startMs >= pause.startMs && startMs <= pause.endMs + AFTER_PAUSE_MS_MAX,
    );
  const reply = speech.find(({ startMs }) => startMs >= line.endMs - EDGE_MS && startMs < untilMs);
  const isUnderway = speech.some(
    ({ startMs, endMs }) => startMs < line.endMs - EDGE_MS && endMs > line.endMs + EDGE_MS,
  );
  const hasReply = reply !== undefined || starts.length > 0 || isUnderway;
  const waitedMs = Math.min(untilMs, lanes.endMs) - line.endMs;
  const isTimed = reply !== undefined && hasYielded && (line.kind !== 'line' || !isUnderway);
  const clip = ({ startMs, endMs }: SpeechSpan): SpeechSpan => ({
    startMs,
    endMs: Math.min(endMs, line.endMs),
  });
  return {
    line,
    yieldMs,
    responseMs: isTimed ? Math.max(0, reply.startMs - line.endMs) : undefined,
    isMissed: !hasReply && waitedMs >= REPLY_WAIT_MS_MIN,
    agentInterruptions: starts.filter((start) => !isInPause(start)).map(clip),
    falseEndpoints: starts.filter(isInPause).map(clip),
  };
}

/**
 * Returns the time from the first sound of an interruption to the last sound of the agent; undefined
 * if the agent went on.
 */
function findYieldMs(line: Utterance, speech: readonly SpeechSpan[]): number | undefined {
  let stopMs = line.startMs;
  for (const { startMs, endMs } of speech) {
    if (endMs <= line.startMs) continue;
    const silentMs = startMs - stopMs;
    const hasStopped =
      stopMs > line.endMs
        ? silentMs >= SENTENCE_PAUSE_MS_MAX
        : startMs >= line.endMs || silentMs >= YIELD_SILENCE_MS;
    if (startMs > line.startMs && hasStopped) break;
    stopMs = endMs;
  }
  return stopMs > line.endMs + YIELD_AFTER_MS_MAX ? undefined : stopMs - line.startMs;
}

/** Whether a backchannel stopped the agent; null if that can't be told. */
function hasStoppedAgent(
  { startMs }: Utterance,
  lines: readonly Utterance[],
  speech: readonly SpeechSpan[],
): boolean | null {
  const at = speech.findIndex((span) => span.startMs <= startMs && span.endMs > startMs);
  if (at < 0) return null;
  const lineMs = lines.find((line) => line.startMs > startMs)?.startMs ?? Infinity;
  let hasStopped: boolean | null = false;
  for (const [nth, { endMs }] of speech.entries()) {
    if (nth < at || endMs > startMs + BACKCHANNEL_STOP_MS_MAX) continue;
    const next = speech[nth + 1];
    if (!next || next.startMs > lineMs) return null;
    const silentMs = next.startMs - endMs;
    if (silentMs >= YIELD_SILENCE_MS) return true;
    if (silentMs >= UNCLEAR_SILENCE_MS_MIN) hasStopped = null;
  }
  return hasStopped;
}

/** Returns when both sides spoke. The pauses within a line are silent. */
function findOverlaps(line: Utterance, speech: readonly SpeechSpan[]): SpeechSpan[] {
  const parts = subtract([line], line.pauses);
  return parts.flatMap((part) =>
    speech.flatMap(({ startMs, endMs }) => {
      const overlap = {
        startMs: Math.max(startMs, part.startMs),
        endMs: Math.min(endMs, part.endMs),
      };
      return overlap.endMs > overlap.startMs ? [overlap] : [];
    }),
  );
}

/**
 * Returns the silences over 2 s between the first and the last sound of the call, each without the
 * time when the caller was not ready.
 */
function findDeadAir({ agent, caller, notReady }: CallLanes): SpeechSpan[] {
  const sounds = [...agent.speech, ...caller].toSorted((a, b) => a.startMs - b.startMs);
  const silences: SpeechSpan[] = [];
  let endMs = Infinity;
  for (const sound of sounds) {
    const silence = { startMs: endMs, endMs: sound.startMs };
    const readyMs = subtract([silence], notReady).reduce((sum, span) => sum + lengthOf(span), 0);
    if (readyMs > DEAD_AIR_MS_MIN) {
      silences.push({ startMs: endMs, endMs: endMs + readyMs });
    }
    endMs = endMs === Infinity ? sound.endMs : Math.max(endMs, sound.endMs);
  }
  return silences;
}

const lengthOf = ({ startMs, endMs }: SpeechSpan): number => endMs - startMs;

/** Removes spans from others. */
function subtract(spans: readonly SpeechSpan[], removed: readonly SpeechSpan[]): SpeechSpan[] {
  return removed.reduce<SpeechSpan[]>(
    (left, { startMs, endMs }) =>
      left
        .flatMap((span) => [
          { startMs: span.startMs, endMs: Math.min(span.endMs, startMs) },
          { startMs: Math.max(span.startMs, endMs), endMs: span.endMs },
        ])
        .filter((span) => span.endMs > span.startMs),
    spans
      .filter((span) => span.endMs > span.startMs)
      .map(({ startMs, endMs }) => ({ startMs, endMs })),
  );
}
