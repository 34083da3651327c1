import type { SimulatedSessionReport } from '../../../contract/index.ts';
import { toPrintable } from '../../../report-kit/printable.ts';
import { labeled, shorten } from '../../../report-kit/terminal.ts';

/** The most turns, and the most characters per message, to show; the JSON report has everything. */
const TURNS_MAX = 10;
const MESSAGE_CHARS_MAX = 300;

type Message = [speaker: 'user' | 'agent', text: string];

/** Returns a transcript with one line per message, such as `user: Hello`; of a long one, the last turns. */
export function transcriptText(session: SimulatedSessionReport): string[] {
  const { omitted, messages } = lastMessages(session);
  return [...omitted, ...messages.map(([speaker, text]) => `${speaker}: ${text}`)];
}

/** Returns the same transcript, wrapped and indented for a terminal. */
export function transcriptLines(session: SimulatedSessionReport, width: number): string[] {
  const { omitted, messages } = lastMessages(session);
  return [
    ...omitted.map((line) => `  ${line}`),
    ...messages.flatMap(([speaker, text]) => labeled(`  ${speaker.padEnd(5)}  `, text, width)),
  ];
}

/** Returns the last messages, because the end of a session explains its verdict. */
function lastMessages({ traces }: SimulatedSessionReport): {
  omitted: string[];
  messages: Message[];
} {
  const count = Math.max(0, traces.length - TURNS_MAX);
  const messages = traces
    .slice(count)
    .flatMap(({ user_input: user, agent_response: agent }): Message[] => [
      ...(user === '' ? [] : [['user', printable(user)] satisfies Message]),
      ['agent', agent === '' ? '(no response)' : printable(agent)],
    ]);
  return { omitted: count > 0 ? [`(${count} earlier turns omitted)`] : [], messages };
}

const printable = (text: string): string => shorten(toPrintable(text).trim(), MESSAGE_CHARS_MAX);
