/** A caller that speaks to the reference agent, and knows how much of its speech was heard. */
import type { Test } from 'tap';
import type { AgentOptions, RunningAgent } from '../../../reference-agent/index.ts';
import type { LineImpairment } from '../../../src/voice/line-impairment/index.ts';
import type { Clip } from '../../../src/voice/opus/index.ts';
import { withReferenceAgent } from '../sandboxes/reference-agent.ts';
import { until } from '../until.ts';
import {
  fetchCalls,
  loadClip,
  loadLine,
  startMicrophone,
  withCall,
  type CallView,
  type ConnectedCall,
  type Message,
} from './caller.ts';

export interface TurnTakingOptions {
  /** The called agent; by default, one that is started with the voice options. */
  agent?: RunningAgent;
  voice?: NonNullable<AgentOptions['voice']>;
  fault?: string;
  start?: Message;
  impairment?: LineImpairment | undefined;
}

/** Places a call. */
export async function withTurnTakingCaller(t: Test, options: TurnTakingOptions = {}) {
  const { voice, fault, start = {}, impairment } = options;
  const agent = options.agent ?? (await withReferenceAgent(t, voice && { voice })).agent;
  const headers = fault === undefined ? {} : { 'x-sandbox-kit-fault': fault };
  const call = await withCall(t, agent.voiceUrl ?? '', start, { headers });
  const microphone = startMicrophone(t, call.peer, impairment);
  const updates = (): Message[] =>
    call.messages.filter(({ type }) => type === 'conversation_update');
  return {
    call,
    microphone,
    updates,
    /** Sends a caption, and speaks for a short time. */
    say: async (text: string): Promise<number> => {
      call.send({ type: 'caption', call_id: call.callId, text });
      return microphone.say(await loadLine());
    },
    turns: async (): Promise<CallView['turns']> =>
      (await fetchCalls(agent.url)).find(({ call_id }) => call_id === call.callId)?.turns ?? [],
    nextUpdate: (nth: number): Promise<void> =>
      until(`update ${nth}`, () => updates().length > nth),
  };
}

/** Returns how many different packets of a clip were received. */
export function countReceived({ received }: ConnectedCall, { packets }: Clip): number {
  const payloads = new Set(received.map(({ payload }) => payload.toString('latin1')));
  return packets.filter((packet) => payloads.has(packet.toString('latin1'))).length;
}

/** Returns whether the last spoken packet of a clip was received. */
export function hasEnded({ received }: ConnectedCall, { packets, speechEndTicks }: Clip): boolean {
  const last = packets[Math.ceil(speechEndTicks / 960) - 1];
  return received.some(({ payload }) => last !== undefined && payload.equals(last));
}

/** Speaks over the greeting, and returns how much of it was heard after that. */
export async function interruptGreeting(t: Test, options: TurnTakingOptions) {
  const caller = await withTurnTakingCaller(t, options);
  const greeting = await loadClip('how-can-i-help');
  await until('the greeting begins', () => countReceived(caller.call, greeting) >= 8);
  const before = countReceived(caller.call, greeting);
  void caller.microphone.say(await loadLine());
  await until('the reply', () => caller.updates().length > 0);
  const heardMs = (countReceived(caller.call, greeting) - before) * 20;
  return { ...caller, greeting, heardMs };
}
