import type { SimulatedSessionReport } from '../../../contract/index.ts';
import { toPrintable } from '../../../report-kit/printable.ts';
import { labeled, shorten } from '../../../report-kit/terminal.ts';

// The JSON report has all turns at full length.
const TURNS_MAX = 10;
const MESSAGE_CHARS_MAX = 300;

type Message = [speaker: 'user' | 'agent' | 'other', text: string];
type Turn = SimulatedSessionReport['traces'][number];

/** Formats the last turns of a transcript, with one line per message such as `user: Hello`. */
export function formatTranscript(session: SimulatedSessionReport): string[] {
  const { omitted, messages } = takeLastMessages(session);
  return [...omitted, ...messages.map(([speaker, text]) => `${speaker}: ${text}`)];
}

/** Names a turn, and the line of the scenario that evals know it by, if that has another number. */
export const nameTurn = ({ session_sequence: turn, scenario_line: line = turn }: Turn): string =>
  line === turn ? `Turn ${turn}` : `Turn ${turn} (line ${line} of the scenario)`;

const TURN_CHARS_MAX = 160;

/** Formats one turn of a session for a terminal, cut to a few lines. */
export function formatTurnLines(
  session: SimulatedSessionReport,
  turn: Turn,
  { indent, width }: { indent: string; width: number },
): string[] {
  return messagesOf(session, turn, TURN_CHARS_MAX).flatMap(([speaker, text]) =>
    labeled(`${indent}${speaker.padEnd(5)}  `, text, width),
  );
}

/** Formats the same turns for a terminal, wrapped and indented. */
export function formatTranscriptLines(session: SimulatedSessionReport, width: number): string[] {
  const { omitted, messages } = takeLastMessages(session);
  return [
    ...omitted.map((line) => `  ${line}`),
    ...messages.flatMap(([speaker, text]) => labeled(`  ${speaker.padEnd(5)}  `, text, width)),
  ];
}

/** Takes the messages of the last turns, because the end of a session explains its verdict. */
function takeLastMessages(session: SimulatedSessionReport): {
  omitted: string[];
  messages: Message[];
} {
  const { traces, other_session: other } = session;
  const count = Math.max(0, traces.length - TURNS_MAX);
  const read = (turn: Turn): Message[] => messagesOf(session, turn, MESSAGE_CHARS_MAX);
  const messages = traces.slice(count).flatMap(read);
  const ofOther = (other?.traces ?? [])
    .flatMap(read)
    .map(([speaker, text]): Message => [speaker === 'user' ? 'other' : speaker, text]);
  return {
    omitted: count > 0 ? [`(${count} earlier turns omitted)`] : [],
    messages: [...ofOther, ...messages],
  };
}

function messagesOf(session: SimulatedSessionReport, turn: Turn, charsMax: number): Message[] {
  const { user_input: user, agent_response: agent } = turn;
  const reply =
    agent === '' ? nameMissingReply(session, turn) : toShortText(agent, charsMax) || '(blank)';
  return [
    ...(user === '' ? [] : [['user', toShortText(user, charsMax) || '(blank)'] satisfies Message]),
    ['agent', reply],
  ];
}

/** By chat, an error of the agent that ends a session is a response that was received. */
function nameMissingReply(session: SimulatedSessionReport, turn: Turn): string {
  const { channel, end_reason: reason, traces, other_session: other } = session;
  const isLast = turn === (traces.at(-1) ?? other?.traces.at(-1));
  const isInvalid = channel === 'chat' && reason === 'agent_error' && isLast;
  return isInvalid ? '(invalid response)' : '(no response)';
}

const toShortText = (text: string, charsMax: number): string =>
  shorten(toPrintable(text).trim(), charsMax);
