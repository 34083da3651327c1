import type { EvalDefinition, OutcomeEvidence } from '../../contract/index.ts';
import { containsJson, isObject, isSameJson } from '../../platform/json.ts';
import { parsePath, findValues, type PathStep } from '../domain/json-path.ts';
import { findFirstMatch } from '../../platform/pattern-match.ts';
import { formatCount } from '../../report-kit/format.ts';
import { scoreHeardWordErrorRateMax } from './heard.ts';
import { scoreJudge } from './judge.ts';
import { readParams, UnreadableParams, type Params } from './params.ts';
import { scoreNoRepetition } from './repetition.ts';
import { formatList, quote, quoteExcerpt, quotePattern, shorten } from './quoting.ts';
import {
  createErrorScore,
  createScore,
  type Judge,
  type Score,
  type Scorer,
  type Scoring,
} from './score.ts';
import {
  findTurns,
  listCountedTurns,
  listToolCalls,
  type PlacedToolCall,
  type ScoredSession,
} from '../domain/scored-session.ts';
import type { ScoredTurn } from '../turns/turn-types.ts';
import { viewSession } from './session-view.ts';
import {
  scoreNeverInterrupts,
  scoreNoDeadAir,
  scoreNoFalseEndpoint,
  scoreRespondsWithinMs,
  scoreYieldsWithinMs,
} from './turn-taking.ts';

/** How each kind of eval is scored. A kind that is in the schema and not here does not compile. */
const scorers: Record<EvalDefinition['kind'], Scorer> = {
  contains: scoreContains,
  regex: scoreRegex,
  tool_called: scoreToolCalled,
  tool_args: scoreToolArgs,
  tool_order: scoreToolOrder,
  max_turns: scoreMaxTurns,
  max_latency: scoreMaxLatency,
  no_repetition: scoreNoRepetition,
  json_path: scoreJsonPath,
  evaluation_metadata: scoreEvaluationMetadata,
  judge: scoreJudge,
  yields_within_ms: scoreYieldsWithinMs,
  never_interrupts: scoreNeverInterrupts,
  responds_within_ms: scoreRespondsWithinMs,
  no_false_endpoint: scoreNoFalseEndpoint,
  no_dead_air: scoreNoDeadAir,
  heard_word_error_rate_max: scoreHeardWordErrorRateMax,
};

/**
 * Scores a session with an eval. If the eval can't be scored (no judge, a pattern that takes too long,
 * an invalid parameter), the outcome is `error`. Rejects with the signal's reason when it is aborted,
 * and with bugs.
 */
export async function scoreSession(
  definition: EvalDefinition,
  session: ScoredSession,
  judge: Judge | undefined,
  signal: AbortSignal,
): Promise<Score> {
  signal.throwIfAborted();
  const { kind } = definition;
  if (!Object.hasOwn(scorers, kind)) {
    return createErrorScore(`This release does not support evals of kind ${kind}.`);
  }
  try {
    return await scorers[kind]({ params: readParams(definition), session, judge, signal });
  } catch (error) {
    if (error instanceof UnreadableParams) return createErrorScore(error.message);
    throw error;
  }
}

/** `max_turns`: the session has at most `max` turns, not counting interruptions by the user. */
function scoreMaxTurns({ params, session }: Scoring): Score {
  const max = params.readNumber('max');
  const counted = listCountedTurns(session.turns);
  const [firstBeyond] = counted.slice(max);
  const others = session.turns.length - counted.length;
  const uncounted = others === 0 ? '' : `, not counting ${formatCount(others, 'interruption')}`;
  return createScore(
    counted.length <= max,
    `Expected at most ${formatCount(max, 'turn')}: the session has ${counted.length}${uncounted}.`,
    firstBeyond && [{ turn: firstBeyond.sequence, part: 'turn' }],
  );
}

/**
 * `max_latency`: every turn took at most `ms`. A turn without a measured latency proves nothing: unless
 * another turn is too slow, the outcome is an error.
 */
function scoreMaxLatency({ params, session }: Scoring): Score {
  const max = params.readNumber('ms');
  const expectation = `Expected turns of at most ${max} ms`;
  const slow = session.turns.filter(({ latencyMs = 0 }) => latencyMs > max);
  if (slow.length > 0) {
    const turns = slow.map(({ sequence, latencyMs = 0 }) => `turn ${sequence} (${latencyMs} ms)`);
    return createScore(
      false,
      `${expectation}: these are slower: ${formatList(turns)}.`,
      slow.map(({ sequence }) => ({ turn: sequence, part: 'latency' })),
    );
  }
  const unmeasured = session.turns.filter(({ latencyMs }) => latencyMs === undefined);
  if (session.turns.length === 0)
    return createErrorScore(`${expectation}: the session has no turns.`);
  if (unmeasured.length > 0) {
    const numbers = formatList(unmeasured.map(({ sequence }) => String(sequence)));
    return createErrorScore(
      `${expectation}: turn ${numbers} has no measured latency. Only live traces and simulations have one.`,
    );
  }
  const slowestMs = Math.max(...session.turns.map(({ latencyMs = 0 }) => latencyMs));
  return createScore(true, `${expectation}: the slowest took ${slowestMs} ms.`);
}

const SPEAKERS = ['agent', 'user', 'any'] as const;
type SpeakerFilter = (typeof SPEAKERS)[number];

const speakerNames: Record<SpeakerFilter, string> = {
  agent: "the agent's messages",
  user: "the user's messages",
  any: 'all messages',
};

interface Message {
  turn: number;
  speaker: 'agent' | 'user';
  text: string;
}

/**
 * `contains`: a message contains the text, or none does if `absent` is true; case-insensitive unless
 * `case_sensitive`.
 */
function scoreContains({ params, session }: Scoring): Score {
  const text = params.readText('text');
  const normalize = params.readFlag('case_sensitive') ? normalizeAccents : normalizeCase;
  const expected = normalize(text);
  const filter = filterMessages(session, params);
  const message = filter.messages.find((candidate) => normalize(candidate.text).includes(expected));
  if (!message) return scoreSearch(quote(text), filter, undefined);
  const start = normalize(message.text).indexOf(expected);
  // Normalizing can change the length; then the place in the original text is unknown.
  const isSameLength = normalize(message.text).length === message.text.length;
  const place = isSameLength ? { start, end: start + expected.length } : {};
  return scoreSearch(quote(text), filter, { message, at: start, place });
}

/**
 * `regex`: a message matches the pattern, or none does if `absent` is true. A pattern that takes too
 * long is an error.
 */
async function scoreRegex({ params, session, signal }: Scoring): Promise<Score> {
  const pattern = params.readText('pattern');
  const flags = params.readOptionalText('flags') ?? '';
  const filter = filterMessages(session, params);
  const texts = filter.messages.map(({ text }) => text);
  const result = await findFirstMatch({ pattern, flags, texts }, signal);
  const expected = `a match of /${quotePattern(pattern)}/${flags}`;
  const search = `Looked for ${expected} in ${filter.place}`;
  switch (result.kind) {
    case 'found': {
      const message = filter.messages[result.index];
      if (!message) throw new Error(`There is no message ${result.index} of ${texts.length}.`);
      const { at, length } = result;
      return scoreSearch(expected, filter, { message, at, place: { start: at, end: at + length } });
    }
    case 'absent':
      return scoreSearch(expected, filter, undefined);
    case 'invalid':
      return createErrorScore(
        `${search}: the pattern is invalid (${shorten(result.reason, 200)}).`,
      );
    case 'too_slow':
      return createErrorScore(
        `${search}: the pattern was stopped after ${result.ms} ms. Rewrite it without nested ` +
          'repetitions such as (a+)+.',
      );
  }
}

/** The messages that a search covers. */
interface SearchedMessages {
  /** Where they are, in words. */
  place: string;
  messages: Message[];
  /** Whether only one turn or line of the scenario is searched. */
  isNarrow: boolean;
  /** Whether no message may have what is searched for. */
  isAbsent: boolean;
}

function filterMessages(session: ScoredSession, params: Params): SearchedMessages {
  const filter = params.readWord('in', SPEAKERS);
  const number = params.readOptionalNumber('turn');
  const turns = number === undefined ? session.turns : findTurns(session.turns, number);
  const place = number === undefined ? '' : ` of ${nameTurns(turns, number, session)}`;
  const messages = turns.flatMap(({ sequence, userInput, agentResponse }): Message[] => [
    { turn: sequence, speaker: 'user', text: userInput },
    { turn: sequence, speaker: 'agent', text: agentResponse },
  ]);
  return {
    place: `${speakerNames[filter]}${place}`,
    messages: messages.filter(({ speaker }) => filter === 'any' || filter === speaker),
    isNarrow: number !== undefined,
    isAbsent: params.readFlag('absent'),
  };
}

/** Names what `turn: N` means: the turn, or the line of the scenario with its turns. */
function nameTurns(
  turns: readonly ScoredTurn[],
  number: number,
  { turns: all }: ScoredSession,
): string {
  const [first, ...others] = turns.map(({ sequence }) => String(sequence));
  if (first === undefined) {
    const hasLines = all.some(({ scenarioLine }) => scenarioLine !== undefined);
    return `${hasLines ? 'line' : 'turn'} ${number}`;
  }
  if (others.length > 0) return `line ${number} (turns ${formatList([first, ...others])})`;
  return first === String(number) ? `turn ${number}` : `line ${number} (turn ${first})`;
}

/** A message that has what is searched for, and where. */
interface SearchMatch {
  message: Message;
  at: number;
  place: { start?: number; end?: number };
}

function scoreSearch(
  expected: string,
  { place, messages, isNarrow, isAbsent }: SearchedMessages,
  match: SearchMatch | undefined,
): Score {
  const search = isAbsent
    ? `Expected nothing like ${expected} in ${place}`
    : `Looked for ${expected} in ${place}`;
  if (match) {
    const { message, at } = match;
    return createScore(!isAbsent, `${search}: ${describeMatch(message, at)}`, [
      { turn: message.turn, part: message.speaker, ...match.place },
    ]);
  }
  const [first] = messages;
  // Without messages, nothing shows that the agent would not say it.
  if (isAbsent && first) return createScore(true, `${search}: none has it.`);
  const last = isNarrow ? messages.at(-1) : undefined;
  const evidence: OutcomeEvidence[] = last ? [{ turn: last.turn, part: last.speaker }] : [];
  return createScore(false, `${search}: ${describeAbsence(messages)}`, evidence);
}

function describeMatch({ turn, speaker, text }: Message, at: number): string {
  return `turn ${turn} has it; the ${speaker} said ${quoteExcerpt(text, at)}.`;
}

function describeAbsence(messages: readonly Message[]): string {
  const last = messages.at(-1);
  if (!last) return 'there are no messages.';
  if (messages.every(({ text }) => text === '')) {
    return (
      `none of ${formatCount(messages.length, 'message')} has text. If the traces contain no ` +
      "message content, turn on its capture in the agent's instrumentation."
    );
  }
  return `none of ${formatCount(messages.length, 'message')} has it; the last is ${quote(last.text)}.`;
}

/** Makes text comparable regardless of how accents are encoded. */
function normalizeAccents(text: string): string {
  return text.normalize('NFC');
}

/** Makes text comparable regardless of case. Lower then upper case maps ß, ẞ, ss and all sigmas alike. */
function normalizeCase(text: string): string {
  return normalizeAccents(normalizeAccents(text).toLowerCase().toUpperCase());
}

/** `tool_called`: at least one turn calls the tool. */
function scoreToolCalled({ params, session }: Scoring): Score {
  const name = params.readText('name');
  const calls = listToolCalls(session);
  const call = calls.find((candidate) => candidate.name === name);
  const search = `Looked for a call of the tool ${quote(name)}`;
  if (!call) return createScore(false, `${search}: ${describeCalls(calls)}`);
  return createScore(
    true,
    `${search}: turn ${call.turn} calls it with the arguments ${quote(call.arguments)}.`,
    [toEvidence(call)],
  );
}

const toEvidence = ({ turn, index }: PlacedToolCall): OutcomeEvidence => ({
  turn,
  part: 'tool_call',
  call: index,
});

/** `tool_args`: at least one call of the tool includes the given arguments. */
function scoreToolArgs({ params, session }: Scoring): Score {
  const name = params.readText('name');
  const expected = params.readValue('arguments');
  if (!isObject(expected)) {
    throw new UnreadableParams(
      "The eval can't be scored: its parameter arguments is not an object.",
    );
  }
  const calls = listToolCalls(session);
  const callsOfTool = calls.filter((call) => call.name === name);
  const match = callsOfTool.find((call) => containsJson(call.arguments, expected));
  const search = `Looked for a call of the tool ${quote(name)} with ${quote(expected)}`;
  if (match) {
    return createScore(
      true,
      `${search}: turn ${match.turn} calls it with ${quote(match.arguments)}.`,
      [toEvidence(match)],
    );
  }
  if (callsOfTool.length === 0) return createScore(false, `${search}: ${describeCalls(calls)}`);
  const received = formatList(callsOfTool.map((call) => quote(call.arguments)));
  return createScore(
    false,
    `${search}: ${formatCount(callsOfTool.length, 'call')} had ${received}.`,
    callsOfTool.map(toEvidence),
  );
}

/** `tool_order`: the tools are called in this order; other calls may come in between. */
function scoreToolOrder({ params, session }: Scoring): Score {
  const names = params.readTexts('names');
  const calls = listToolCalls(session);
  const inOrder: PlacedToolCall[] = [];
  for (const call of calls) if (call.name === names[inOrder.length]) inOrder.push(call);
  const matched = inOrder.length;
  const evidence = inOrder.map(toEvidence);
  const search = `Looked for calls in the order ${formatList(names.map(quote))}`;
  if (matched === names.length) {
    return createScore(
      true,
      `${search}: the session calls ${formatList(calls.map(({ name }) => quote(name)))}.`,
      evidence,
    );
  }
  const missing = quote(names[matched]);
  const position = matched === 0 ? '' : ` after ${quote(names[matched - 1])}`;
  return createScore(
    false,
    `${search}: ${missing} is missing${position}; ${describeCalls(calls)}`,
    evidence,
  );
}

function describeCalls(calls: readonly { name: string }[]): string {
  if (calls.length === 0) return 'the session has no tool calls.';
  return `the session calls ${formatList(calls.map(({ name }) => quote(name)))}.`;
}

/** `json_path`: a value at the path in the session equals the expected one. */
function scoreJsonPath({ params, session }: Scoring): Score {
  const path = params.readText('path');
  const expected = params.readValue('equals');
  const steps = parsePath(path);
  if (typeof steps === 'string')
    return createErrorScore(`The path ${quote(path)} is invalid: ${steps}.`);
  const values = findValues(viewSession(session), steps);
  const search = `Looked for ${quote(expected)} at ${path}`;
  if (values.length === 0) return createScore(false, `${search}: there is no value.`);
  const passes = values.some((value) => isSameJson(value, expected));
  return createScore(
    passes,
    `${search}: found ${passes ? 'it' : formatList(values.map(quote))}.`,
    locatePath(session, steps),
  );
}

const partsByField: Readonly<Record<string, OutcomeEvidence['part']>> = {
  user_input: 'user',
  agent_response: 'agent',
  tool_calls: 'tool_call',
  latency_ms: 'latency',
  evaluation_metadata: 'evaluation_metadata',
};

/** Returns the place of a path in the transcript if it leads to one turn. */
function locatePath(session: ScoredSession, steps: readonly PathStep[]): OutcomeEvidence[] {
  const [root, nth, field, call] = steps;
  if (!isKey(root) || root.key !== 'turns' || !isIndex(nth)) return [];
  const turn = session.turns.at(nth.index)?.sequence;
  if (turn === undefined) return [];
  const part = (isKey(field) && partsByField[field.key]) || 'turn';
  if (part !== 'tool_call') return [{ turn, part }];
  return [isIndex(call) && call.index >= 0 ? { turn, part, call: call.index } : { turn, part }];
}

const isKey = (step: PathStep | undefined): step is { key: string } =>
  typeof step === 'object' && 'key' in step;

const isIndex = (step: PathStep | undefined): step is { index: number } =>
  typeof step === 'object' && 'index' in step;

/** `evaluation_metadata`: the hint with this key equals the expected value in some turn (spec 2.8). */
function scoreEvaluationMetadata({ params, session }: Scoring): Score {
  const key = params.readText('key');
  const expected = params.readValue('equals');
  const search = `Looked for ${quote(expected)} in the evaluation metadata ${quote(key)}`;
  const hints = session.turns.flatMap(({ sequence, evaluationMetadata = {} }) =>
    Object.hasOwn(evaluationMetadata, key)
      ? [{ turn: sequence, value: evaluationMetadata[key] }]
      : [],
  );
  const match = hints.find(({ value }) => isSameJson(value, expected));
  const place = ({ turn }: { turn: number }): OutcomeEvidence => ({
    turn,
    part: 'evaluation_metadata',
  });
  if (match) return createScore(true, `${search}: turn ${match.turn} has it.`, [place(match)]);
  if (hints.length === 0) return createScore(false, `${search}: no turn has that key.`);
  const received = formatList(hints.map(({ turn, value }) => `turn ${turn} has ${quote(value)}`));
  return createScore(false, `${search}: ${received}.`, hints.map(place));
}
