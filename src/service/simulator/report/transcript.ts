import type { SimulatedSessionReport } from '../../../contract/index.ts';
import { wrap } from '../../../report-kit/terminal.ts';

/** Of a session so many turns are shown, and so many characters of each line; the JSON has all. */
const turnsMax = 10;
const lineCharsMax = 300;

const whoWidth = 5;

/** One who speaks, and a line; of an agent that gave no answer, that. */
type Spoken = [who: 'user' | 'agent', line: string];

/** What was said in a session, a line each, as `user: Hello`; of a long one the last turns. */
export function transcriptText(session: SimulatedSessionReport): string[] {
  const { before, spoken } = spokenIn(session);
  return [...before, ...spoken.map(([who, line]) => `${who}: ${line}`)];
}

/** The same, wrapped to a width and set in. */
export function transcriptLines(session: SimulatedSessionReport, width: number): string[] {
  const { before, spoken } = spokenIn(session);
  const inset = ' '.repeat(4 + whoWidth);
  const room = width - inset.length;
  const lines = spoken.flatMap(([who, line]) => {
    const [first = '', ...more] = wrap(breakable(line, room), room);
    return [`  ${who.padEnd(whoWidth)}  ${first}`, ...more.map((next) => `${inset}${next}`)];
  });
  return [...before.map((line) => `  ${line}`), ...lines];
}

/** How a session ended is what one wants to see of it. */
function spokenIn({ traces }: SimulatedSessionReport): { before: string[]; spoken: Spoken[] } {
  const left = Math.max(0, traces.length - turnsMax);
  const spoken = traces.slice(left).flatMap(({ user_input: user, agent_response: agent }) => {
    const asked: Spoken[] = user === '' ? [] : [['user', shown(user)]];
    return [...asked, ['agent', agent === '' ? '(no answer)' : shown(agent)] satisfies Spoken];
  });
  return { before: left > 0 ? [`(${left} turns before these)`] : [], spoken };
}

/** What a sandbox says must not steer a terminal. */
export const showable = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ');

function shown(text: string): string {
  const line = showable(text).trim();
  return line.length <= lineCharsMax
    ? line
    : `${line.slice(0, lineCharsMax - 3).toWellFormed()}...`;
}

/** Words that are longer than a line are broken. */
const breakable = (text: string, room: number): string =>
  text.replaceAll(new RegExp(`\\S{${room}}(?=\\S)`, 'gu'), '$& ');
