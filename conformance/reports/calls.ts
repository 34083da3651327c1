import { valueAt, type CallSummary, type CheckReport } from '../../src/contract/index.ts';
import { audioLatencyOf, figuresOf } from '../areas/voice/checks/latency.ts';
import { describeOutcome, type Exchange, type Transcript } from '../engine/transcript/reading.ts';
import {
  eventsOf,
  isConnected,
  isVoice,
  NO_SUCH_PATH,
  readyOf,
  saidBySandbox,
} from '../engine/transcript/call-messages.ts';

/** The part of a report that is about calls: each of them, and how late their audio was. */
export function callsOf(transcript: Transcript): Pick<CheckReport, 'calls' | 'audioLatency'> {
  const calls = transcript.exchanges
    .filter((one) => isVoice(one) && one.step !== NO_SUCH_PATH)
    .sort((one, other) => one.id - other.id)
    .map(summaryOf);
  const latency = audioLatencyOf(transcript);
  return { calls, ...(latency && { audioLatency: latency }) };
}

function summaryOf(one: Exchange): CallSummary {
  const figures = figuresOf(one);
  const sounds = eventsOf(one, 'sound');
  const stated = saidBySandbox(one, 'conversation_update')
    .map(({ json }) => valueAt(json, '/metadata/response_time_ms'))
    .filter((ms) => typeof ms === 'number');
  const close = eventsOf(one, 'close', 'sandbox')[0];
  return {
    exchange: one.id,
    step: one.step,
    outcome: describeOutcome(one),
    ...setupOf(one),
    turns: eventsOf(one, 'speech').length,
    ...(isConnected(one) && { turnResponsesMs: (figures?.turnResponsesMs ?? []).map(rounded) }),
    ...(stated.length > 0 && { statedResponsesMs: stated }),
    packets: figures?.stream.packets ?? 0,
    lost: figures?.stream.lost ?? 0,
    ...known('gapMaxMs', figures?.stream.intervalMaxMs),
    ...known('transitP99Ms', figures?.stream.transitP99Ms),
    ...known('roundTripP95Ms', figures?.roundTripP95Ms),
    soundMs: rounded(sounds.reduce((sum, { atMs, untilMs = atMs }) => sum + untilMs - atMs, 0)),
    ...known('kitLateMs', figures?.kitLateMs),
    ...known('closeCode', close?.code),
  };
}

/** How long each step of the way to media took. */
function setupOf(one: Exchange): Partial<CallSummary> {
  const startedMs = eventsOf(one, 'message', 'kit')[0]?.atMs;
  const readyMs = readyOf(one)?.event.atMs;
  const answeredMs = eventsOf(one, 'answered')[0]?.atMs;
  const connectedMs = eventsOf(one, 'connected')[0]?.atMs;
  const packetMs = one.call?.media?.packets[0]?.atMs;
  const soundMs = eventsOf(one, 'sound')[0]?.atMs;
  const since = (fromMs: number | undefined, toMs: number | undefined): number | undefined =>
    fromMs === undefined || toMs === undefined ? undefined : Math.max(0, toMs - fromMs);
  return {
    ...known('readyMs', since(startedMs, readyMs)),
    ...known('connectedMs', since(answeredMs, connectedMs)),
    ...known('firstPacketMs', since(connectedMs, packetMs)),
    ...known('firstSoundMs', since(connectedMs, soundMs)),
  };
}

function known(name: keyof CallSummary, ms: number | undefined): Partial<CallSummary> {
  return ms === undefined ? {} : { [name]: rounded(ms) };
}

const rounded = (ms: number): number => Math.round(ms * 100) / 100;
