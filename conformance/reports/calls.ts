import { resolvePointer, type CallSummary, type CheckReport } from '../../src/contract/index.ts';
import { measureAudioLatency, measureCall } from '../areas/voice/latency-measurements.ts';
import { describeOutcome, type Exchange, type Transcript } from '../engine/transcript/reading.ts';
import {
  eventsOf,
  isConnected,
  isVoice,
  UNKNOWN_PATH,
  callReadyOf,
  sandboxMessagesOf,
} from '../engine/transcript/call-messages.ts';
import { roundTo } from '../../src/platform/round.ts';

/** Builds the part of a report that describes the calls and their audio latency. */
export function callsOf(transcript: Transcript): Pick<CheckReport, 'calls' | 'audioLatency'> {
  const calls = transcript.exchanges
    .filter((exchange) => isVoice(exchange) && exchange.step !== UNKNOWN_PATH)
    .sort((left, right) => left.id - right.id)
    .map(summaryOf);
  const latency = measureAudioLatency(transcript);
  return { calls, ...(latency && { audioLatency: latency }) };
}

function summaryOf(exchange: Exchange): CallSummary {
  const figures = measureCall(exchange);
  const sounds = eventsOf(exchange, 'sound');
  const statedMs = sandboxMessagesOf(exchange, 'conversation_update')
    .map(({ json }) => resolvePointer(json, '/metadata/response_time_ms'))
    .filter((ms) => typeof ms === 'number');
  const close = eventsOf(exchange, 'close', 'sandbox')[0];
  return {
    exchange: exchange.id,
    step: exchange.step,
    outcome: describeOutcome(exchange),
    ...setupOf(exchange),
    turns: eventsOf(exchange, 'speech').length,
    ...(isConnected(exchange) && {
      turnResponsesMs: (figures?.turnResponsesMs ?? []).map((ms) => roundTo(ms, 2)),
    }),
    ...(statedMs.length > 0 && { statedResponsesMs: statedMs }),
    packets: figures?.stream.packets ?? 0,
    lost: figures?.stream.lost ?? 0,
    ...optionalNumber('gapMaxMs', figures?.stream.intervalMaxMs),
    ...optionalNumber('transitP99Ms', figures?.stream.transitP99Ms),
    ...optionalNumber('roundTripP95Ms', figures?.roundTripP95Ms),
    soundMs: roundTo(
      sounds.reduce((sum, { atMs, untilMs = atMs }) => sum + untilMs - atMs, 0),
      2,
    ),
    ...optionalNumber('kitLateMs', figures?.kitLateMs),
    ...optionalNumber('closeCode', close?.code),
  };
}

/** Measures each step until media is connected. */
function setupOf(exchange: Exchange): Partial<CallSummary> {
  const startedMs = eventsOf(exchange, 'message', 'kit')[0]?.atMs;
  const readyMs = callReadyOf(exchange)?.event.atMs;
  const answeredMs = eventsOf(exchange, 'answered')[0]?.atMs;
  const connectedMs = eventsOf(exchange, 'connected')[0]?.atMs;
  const packetMs = exchange.call?.media?.packets[0]?.atMs;
  const soundMs = eventsOf(exchange, 'sound')[0]?.atMs;
  const since = (fromMs: number | undefined, toMs: number | undefined): number | undefined =>
    fromMs === undefined || toMs === undefined ? undefined : Math.max(0, toMs - fromMs);
  return {
    ...optionalNumber('readyMs', since(startedMs, readyMs)),
    ...optionalNumber('connectedMs', since(answeredMs, connectedMs)),
    ...optionalNumber('firstPacketMs', since(connectedMs, packetMs)),
    ...optionalNumber('firstSoundMs', since(connectedMs, soundMs)),
  };
}

function optionalNumber(name: keyof CallSummary, value: number | undefined): Partial<CallSummary> {
  return value === undefined ? {} : { [name]: roundTo(value, 2) };
}
