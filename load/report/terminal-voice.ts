import type { LoadReport, VoiceLoad, VoiceSummary } from '../../src/contract/index.ts';
import { wrap } from '../../src/report-kit/terminal.ts';
import { callFaultWords } from '../record/call-fault-words.ts';
import { grouped, percent, seconds } from '../verdict/amounts.ts';
import type { TerminalOptions } from './terminal.ts';

const columns = ['p50', 'p90', 'p95', 'max', 'mean'] as const;

/** The times of calls, with what each is. */
export const callTimes = [
  ['setupMs', 'connected after'],
  ['audioPathLatencyMs', 'way of the audio'],
  ['roundTripMs', 'round trip'],
  ['jitterMs', 'jitter'],
  ['turnResponseMs', 'answer to a turn'],
] as const satisfies readonly (readonly [keyof VoiceLoad, string])[];

/** What became of the calls. */
export function voiceBlock({ voice }: LoadReport, { style, width }: TerminalOptions): string[] {
  if (!voice) return [];
  const head = `${style('bold', 'voice')}  ${callsWords(voice)}`;
  const times = callTimes.map(([key, title]) => {
    const summary: VoiceSummary = voice[key];
    const cells = columns.map((column) => short(summary[column]).padStart(9));
    return `  ${title.padEnd(24)}${cells.join('')}`;
  });
  const errors = Object.entries(voice.errors).map(
    ([kind, count]) =>
      `  ${style('red', grouped(count).padStart(7))}  ${kind}: ${callFaultWords[kind as keyof typeof callFaultWords]}`,
  );
  const samples = voice.faultSamples.flatMap(({ call, detail }) =>
    wrap(`call ${call + 1}: ${detail}`, width - 11).map((line) =>
      style('dim', `           ${line}`),
    ),
  );
  return [
    [
      head,
      style('dim', `  ${''.padEnd(24)}${columns.map((column) => column.padStart(9)).join('')}`),
      ...times,
      ...wrap(packetWords(voice), width - 2).map((line) => `  ${line}`),
      ...errors,
      ...samples,
    ].join('\n'),
  ];
}

/** "100 calls, 100 connected, 98 held, 2 lost". */
export function callsWords({ calls, connected, held, lost }: VoiceLoad): string {
  return `${calls} calls, ${connected} connected, ${held} held, ${lost} lost`;
}

/** What became of the packets, and of the turns. */
export function packetWords({ packets, turns, unansweredTurns }: VoiceLoad): string {
  const { sent, received, lost, gaps, longestGapMs } = packets;
  const share = lost + received === 0 ? '0' : trimmedShare(lost / (lost + received));
  const late =
    gaps === 0
      ? 'no gaps'
      : `${grouped(gaps)} gaps over 40 ms, the longest ${seconds(longestGapMs)}`;
  return `${grouped(sent)} packets sent, ${grouped(received)} received, ${grouped(lost)} lost (${share} %), ${late}; ${grouped(turns)} turns, ${grouped(unansweredTurns)} unanswered`;
}

const trimmedShare = (share: number): string => (share === 0 ? '0' : percent(share));
const short = (ms: number | null): string => (ms === null ? '-' : seconds(ms));
