import type { SimulatedSessionReport } from '../../../contract/index.ts';
import { toPrintable } from '../../../report-kit/printable.ts';
import { labeled, shorten } from '../../../report-kit/terminal.ts';

// The JSON report has all turns at full length.
const TURNS_MAX = 10;
const MESSAGE_CHARS_MAX = 300;

type Message = [speaker: 'user' | 'agent', text: string];

/** Formats the last turns of a transcript, with one line per message such as `user: Hello`. */
export function formatTranscript(session: SimulatedSessionReport): string[] {
  const { omitted, messages } = takeLastMessages(session);
  return [...omitted, ...messages.map(([speaker, text]) => `${speaker}: ${text}`)];
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
function takeLastMessages({ traces }: SimulatedSessionReport): {
  omitted: string[];
  messages: Message[];
} {
  const count = Math.max(0, traces.length - TURNS_MAX);
  const messages = traces
    .slice(count)
    .flatMap(({ user_input: user, agent_response: agent }): Message[] => [
      ...(user === '' ? [] : [['user', toShortText(user)] satisfies Message]),
      ['agent', agent === '' ? '(no response)' : toShortText(agent)],
    ]);
  return { omitted: count > 0 ? [`(${count} earlier turns omitted)`] : [], messages };
}

const toShortText = (text: string): string => shorten(toPrintable(text).trim(), MESSAGE_CHARS_MAX);
