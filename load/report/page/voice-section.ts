import {
  voiceAudioLatencyMsTarget,
  type CallFaultKind,
  type LoadReport,
  type VoiceLoad,
  type VoiceSecond,
} from '../../../src/contract/index.ts';
import { html, type Html } from '../../../src/report-kit/html.ts';
import { callFaultWords } from '../../record/call-fault-words.ts';
import { grouped, seconds, trimmed } from '../../verdict/amounts.ts';
import { callsWords, packetWords } from '../terminal-voice.ts';
import { area, box, chart, line, mark, shade, xOf, yOf, type Field, type Point } from './chart.ts';
import { clockAxis, evenAxis, shortTime, timeAxis, type Axis } from './scale.ts';
import { badge } from './tables.ts';

/** What became of the calls: over time, call by call, in figures. */
export function voiceSection({ voice, plan }: LoadReport): Html {
  if (!voice) return html``;
  return html`<h2>Voice</h2>
    <p>${callsWords(voice)}. ${packetWords(voice)}.</p>
    ${timeCharts(voice, plan.windowMs / 1000)} ${callChart(voice)} ${timesTable(voice)}
    ${errorsTable(voice)} ${callsTable(voice)}`;
}

function timeCharts({ timeline }: VoiceLoad, windowS: number): Html {
  const [first] = timeline;
  const last = timeline.at(-1);
  if (!first || !last || timeline.length < 2) return html``;
  const x = (ticksMax: number): Axis => clockAxis(first.second, last.second + 1, ticksMax);
  const points = (pick: (second: VoiceSecond) => number): Point[] =>
    timeline.map((row) => [row.second + 0.5, pick(row)]);
  const unjudged = (field: Field): Html[] => [
    shade(field, first.second, 0),
    shade(field, windowS, last.second + 1),
  ];
  const most = (pick: (second: VoiceSecond) => number): number => Math.max(...timeline.map(pick));
  const up = points((row) => row.up);
  return html`<figure>
      <h3>Calls that were connected</h3>
      ${chart((ticksMax) => ({
        label: 'Calls that were connected, second by second',
        x: x(ticksMax),
        y: evenAxis(
          most((row) => row.up),
          String,
        ),
        height: 110,
        marks: (field) => [...unjudged(field), area(field, up, 'c4'), line(field, up, 'c4')],
      }))}
    </figure>
    <figure>
      <h3>Packets of audio a second</h3>
      <figcaption>
        <span class="key c1 dash">sent</span><span class="key c3">received</span>
      </figcaption>
      ${chart((ticksMax) => ({
        label: 'Packets of audio a second, sent and received',
        x: x(ticksMax),
        y: evenAxis(
          most((row) => Math.max(row.sent, row.received)),
          String,
        ),
        height: 110,
        marks: (field) => [
          ...unjudged(field),
          line(
            field,
            points((row) => row.received),
            'c3',
          ),
          line(
            field,
            points((row) => row.sent),
            'c1 dashed',
          ),
        ],
      }))}
    </figure>
    ${gapChart({ timeline }, x, unjudged)}`;
}

function gapChart(
  { timeline }: Pick<VoiceLoad, 'timeline'>,
  x: (ticksMax: number) => Axis,
  unjudged: (field: Field) => Html[],
): Html {
  const most = Math.max(...timeline.map(({ gaps }) => gaps));
  if (most === 0) return html``;
  return html`<figure>
    <h3>Gaps of more than 40 ms</h3>
    ${chart((ticksMax) => ({
      label: 'Gaps of more than 40 ms, second by second',
      x: x(ticksMax),
      y: evenAxis(most, String),
      height: 70,
      marks: (field) => [...unjudged(field), ...timeline.flatMap((row) => gapBar(field, row))],
    }))}
  </figure>`;
}

function gapBar(field: Field, { second, gaps }: VoiceSecond): Html[] {
  if (gaps === 0) return [];
  const title = `${gaps} gaps at ${second} s`;
  return [box(field, [second, second + 1], [0, gaps], { className: 'bar k0', title })];
}

/** Both figures of each call: the way of the audio, and the median of its turns. */
function callChart({ perCall }: VoiceLoad): Html {
  const known = perCall.flatMap(({ audioPathLatencyMs, turnResponseMs }) =>
    [audioPathLatencyMs ?? [], Math.max(1, turnResponseMs ?? 1)].flat(),
  );
  if (perCall.every(({ audioPathLatencyMs }) => audioPathLatencyMs === null)) return html``;
  const count = perCall.length;
  const x: Axis = {
    min: 0,
    max: count + 1,
    spread: 'even',
    ticks: [...new Set([1, Math.ceil(count / 2), count])].map((value) => ({
      value,
      label: `call ${value}`,
    })),
  };
  return html`<figure>
    <h3>The two figures of each call</h3>
    <figcaption>
      <span class="key c1">way of the audio</span
      ><span class="key c2">answer to a turn (median)</span>
    </figcaption>
    ${chart(() => ({
      label: 'The way of the audio and the median answer to a turn, call by call',
      x,
      y: timeAxis(Math.min(...known, 100), Math.max(...known, voiceAudioLatencyMsTarget)),
      height: 180,
      marks: (field) => [
        mark(
          field,
          voiceAudioLatencyMsTarget,
          `target ${shortTime(voiceAudioLatencyMsTarget)}`,
          'target',
        ),
        ...perCall.flatMap(({ call, audioPathLatencyMs, turnResponseMs }) => [
          ...dot(field, call + 1, audioPathLatencyMs, 'c1'),
          ...dot(field, call + 1, turnResponseMs, 'c2'),
        ]),
      ],
    }))}
  </figure>`;
}

function dot(field: Field, call: number, ms: number | null, className: string): Html[] {
  if (ms === null) return [];
  return [
    html`<g class="dot ${className}"
      ><circle cx="${xOf(field, call)}" cy="${yOf(field, ms)}" r="3" /><title>
        call ${call}: ${seconds(ms)}
      </title></g
    >`,
  ];
}

const columns = ['p50', 'p90', 'p95', 'p99', 'max', 'mean'] as const;
const rowsOfTimes = [
  ['setupMs', 'connected, from when a call was due'],
  ['readyMs', 'call_ready, from start_call'],
  ['firstPacketMs', 'first audio, from when a call was due'],
  ['audioPathLatencyMs', 'way of the audio'],
  ['roundTripMs', 'round trip on the path of the media'],
  ['jitterMs', 'jitter: one packet in a hundred is later'],
  ['turnResponseMs', 'answer to a turn'],
] as const;

function timesTable(voice: VoiceLoad): Html {
  const rows = rowsOfTimes.map(
    ([key, title]) =>
      html`<tr>
        <td class="name">${title}</td>
        ${columns.map((column) => {
          const value = voice[key][column];
          return html`<td class="number">${value === null ? '–' : seconds(value)}</td>`;
        })}
      </tr>`,
  );
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th></th>
          ${columns.map((column) => html`<th class="number">${column}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

function errorsTable({ errors, faultSamples }: VoiceLoad): Html {
  const kinds = Object.entries(errors);
  if (kinds.length === 0) return html``;
  return html`<h3>Calls that were not held</h3>
    <table>
      <thead>
        <tr>
          <th>error</th>
          <th class="number">calls</th>
          <th>the first</th>
        </tr>
      </thead>
      <tbody>
        ${kinds.map(
          ([kind, times]) =>
            html`<tr>
              <td>
                <strong>${kind}</strong><br /><span class="soft"
                  >${callFaultWords[kind as CallFaultKind]}</span
                >
              </td>
              <td class="number">${grouped(times)}</td>
              <td class="why">
                ${faultSamples
                  .filter((sample) => sample.kind === kind)
                  .map(
                    ({ atMs, call, session, detail }) =>
                      html`<div>
                        ${trimmed(atMs / 1000, 1)} s, call ${call + 1}, ${session}: ${detail}
                      </div>`,
                  )}
              </td>
            </tr>`,
        )}
      </tbody>
    </table>`;
}

function callsTable({ perCall }: VoiceLoad): Html {
  const time = (ms: number | null): string => (ms === null ? '–' : seconds(ms));
  return html`<details>
    <summary>Call by call</summary>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th class="number">call</th>
            <th>verdict</th>
            <th class="number">connected</th>
            <th class="number">audio</th>
            <th class="number">turn</th>
            <th class="number">lost</th>
            <th>why</th>
          </tr>
        </thead>
        <tbody>
          ${perCall.map(
            ({ call, verdict, setupMs, audioPathLatencyMs, turnResponseMs, lostPackets, reason }) =>
              html`<tr>
                <td class="number">${call + 1}</td>
                <td>${badge(verdict)}</td>
                <td class="number">${time(setupMs)}</td>
                <td class="number">${time(audioPathLatencyMs)}</td>
                <td class="number">${time(turnResponseMs)}</td>
                <td class="number">${lostPackets}</td>
                <td class="why">${reason}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </details>`;
}
