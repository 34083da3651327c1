import type { RunTurnTaking, SimulatedSessionReport, TurnTaking } from '../../contract/index.ts';
import type { TextFact } from '../../report-kit/fact-list.ts';
import { formatCount, formatDuration, formatNumber } from '../../report-kit/format.ts';
import type { WaveformEvent } from '../../report-kit/waveform.ts';
import { DEAD_AIR_MS_MIN } from '../../voice/turn-taking/measure.ts';
import { summarizeTurnTaking } from '../../voice/turn-taking/summarize.ts';

type Figures = Omit<RunTurnTaking, 'calls' | 'not_proven'>;

/** Returns how the calls of a run took turns, as facts for people; none without a call. */
export function listRunTurnTaking(measured: RunTurnTaking | undefined): TextFact[] {
  if (!measured) return [];
  const { calls, not_proven: notProven } = measured;
  return [
    ['calls', formatCount(calls, 'call')],
    ...listFigures(measured),
    ...(notProven === 0 ? [] : ([['not proven', describeUnproven(notProven, calls)]] as const)),
  ];
}

const describeUnproven = (notProven: number, calls: number): string =>
  `in ${formatNumber(notProven)} of ${formatCount(calls, 'call')}, because this machine was busy`;

/** Returns how a call took turns, as facts for people. */
export function listTurnTaking(measured: TurnTaking): TextFact[] {
  const { not_proven: notProven } = measured;
  const figures = summarizeTurnTaking([measured]);
  return [
    ...(figures ? listFigures(figures) : []),
    ...(notProven ? ([['not proven', notProven.reason]] as const) : []),
  ];
}

/** The counts that are worth a line only if they are not 0. */
const COUNTED = [
  ['agent_interruptions', 'agent spoke over the user', 'time'],
  ['false_endpoints', 'false endpoints', undefined],
  ['missed_turns', 'lines without a reply', undefined],
  ['gaps', "gaps in the agent's audio", undefined],
] as const;

function listFigures(figures: Figures): TextFact[] {
  const { response_ms: response, yield_ms: yielding, interruptions, yielded } = figures;
  const facts: TextFact[] = [];
  if (response) {
    const { p50, p95, max } = response;
    facts.push([
      'response latency',
      `p50 ${formatDuration(p50)}, p95 ${formatDuration(p95)}, max ${formatDuration(max)}`,
    ]);
  }
  if (interruptions > 0) {
    const times = yielding
      ? `, after p50 ${formatDuration(yielding.p50)}, p95 ${formatDuration(yielding.p95)}`
      : '';
    facts.push([
      'agent yielded',
      `${yielded} of ${formatCount(interruptions, 'interruption')}${times}`,
    ]);
  }
  for (const [key, name, noun] of COUNTED) {
    const figure =
      noun === undefined ? formatNumber(figures[key]) : formatCount(figures[key], noun);
    if (figures[key] > 0) facts.push([name, figure]);
  }
  if (figures.overlap_ms > 0) {
    facts.push(['both spoke together', formatDuration(figures.overlap_ms)]);
  }
  if (figures.dead_air_ms > 0) {
    facts.push([
      `dead air over ${formatDuration(DEAD_AIR_MS_MIN)}`,
      `${formatDuration(figures.dead_air_ms)} in total`,
    ]);
  }
  return facts;
}

/** Returns the turn-taking of the calls of a run. */
export const measuredCalls = (sessions: readonly SimulatedSessionReport[]): TurnTaking[] =>
  sessions.flatMap(({ turn_taking: measured }) => measured ?? []);

type EventKind = TurnTaking['events'][number]['kind'];

/** How the waveform of a call shows each kind of event. */
const EVENTS: Record<EventKind, Pick<WaveformEvent, 'name' | 'side' | 'isFault'>> = {
  interruption: { name: 'user interrupts', side: 'user', isFault: false },
  backchannel: { name: 'backchannel', side: 'user', isFault: false },
  pause: { name: 'user pauses', side: 'user', isFault: false },
  agent_interruption: { name: 'agent speaks over the user', side: 'agent', isFault: true },
  false_endpoint: { name: 'false endpoint', side: 'agent', isFault: true },
  missed_turn: { name: 'line without a reply', side: 'user', isFault: true },
  dead_air: { name: 'dead air', side: 'both', isFault: true },
  gap: { name: 'gap in the audio', side: 'agent', isFault: true },
};

/** Returns what happened in a call, for its waveform. */
export const listEvents = (measured: TurnTaking | undefined): WaveformEvent[] =>
  (measured?.events ?? []).map(({ kind, at_ms: startMs, duration_ms: durationMs }) => ({
    ...EVENTS[kind],
    startMs,
    durationMs,
  }));
