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

/** Formats one turn for a terminal, cut to a few lines. */
export function formatTurnLines(
  turn: Turn,
  { indent, width }: { indent: string; width: number },
): string[] {
  return messagesOf(turn, TURN_CHARS_MAX).flatMap(([speaker, text]) =>
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
function takeLastMessages({ traces, other_session: other }: SimulatedSessionReport): {
  omitted: string[];
  messages: Message[];
} {
  const count = Math.max(0, traces.length - TURNS_MAX);
  const messages = traces.slice(count).flatMap((turn) => messagesOf(turn, MESSAGE_CHARS_MAX));
  const ofOther = (other?.traces ?? [])
    .flatMap((turn) => messagesOf(turn, MESSAGE_CHARS_MAX))
    .map(([speaker, text]): Message => [speaker === 'user' ? 'other' : speaker, text]);
  return {
    omitted: count > 0 ? [`(${count} earlier turns omitted)`] : [],
    messages: [...ofOther, ...messages],
  };
}

const messagesOf = ({ user_input: user, agent_response: agent }: Turn, max: number): Message[] => [
  ...(user === '' ? [] : [['user', toShortText(user, max) || '(blank)'] satisfies Message]),
  ['agent', agent === '' ? '(no response)' : toShortText(agent, max) || '(blank)'],
];

const toShortText = (text: string, charsMax: number): string =>
  shorten(toPrintable(text).trim(), charsMax);
