import { cost, type Step } from '../../../engine/probe.ts';
import type { SandboxContext, SandboxProbe } from '../../sandbox-state.ts';
import type { Intent } from '../../../../src/contract/index.ts';
import type { Call, CallMessage } from '../../../engine/drive/call/script.ts';
import { forms } from './forms.ts';
import {
  callStep,
  createFullStart,
  minimalStart,
  READY_MS_MAX,
  createStartsWithCodec,
} from '../steps.ts';

/** After an error the WebSocket is closed, or it is left open: that it stays open shows soon. */
const CLOSE_MS_MAX = 1_000;
/** What a sandbox makes of what is no message shows soon, or never. */
const REACTION_MS_MAX = 1_500;
/** Until a connection that can't be made is told: ICE tries for a while. */
const FAILURE_MS_MAX = 5_000;

const NO_CODEC = 'sandbox-kit-none';
const FINGERPRINT = /^(a=fingerprint:\S+) .*$/gm;

/** Asks for a call that is to be refused, and hears how. */
const asking =
  (start: CallMessage) =>
  async (line: Call): Promise<void> => {
    line.send(start);
    const answer = await line.waitForMessage(['call_ready', 'error'], READY_MS_MAX);
    if (answer?.['type'] === 'error') await line.waitUntilClosed(CLOSE_MS_MAX);
  };

/** The requests for a WebSocket that lack something, each one edit away from that of the preflight. */
const handshake: SandboxProbe = {
  id: 'voice/handshake',
  area: 'voice',
  phase: 'refused',
  exercises: ['VOICE-004', 'VOICE-005'],
  cost: cost(5, 0, 0, 5),
  async run(context) {
    if (context.voice.absent) return;
    const control = await context.send(callStep('control', 'valid', asking(minimalStart)));
    const edit = (step: string, intent: Intent, more: Partial<Step>): Step => ({
      ...callStep(step, intent, asking(minimalStart)),
      ...(intent === 'refuse' && { control }),
      ...more,
    });
    const protocol = (name: string): Partial<Step> => ({
      headers: { 'sec-websocket-protocol': name },
    });
    await Promise.all([
      context.send(edit('no subprotocol', 'refuse', protocol(''))),
      context.send(edit('another subprotocol', 'refuse', protocol('sandbox-kit-none'))),
      context.send(edit('wrong key', 'open', { key: 'wrong' })),
      context.send(edit('no key', 'open', { key: 'none' })),
    ]);
  },
};

/** Calls that can't come about: the codec, the answer, the keys of the connection. */
const failures: SandboxProbe = {
  id: 'voice/failures',
  area: 'voice',
  phase: 'refused',
  exercises: ['VOICE-040', 'VOICE-041', 'VOICE-042', 'VOICE-043', 'VOICE-044', 'VOICE-045'],
  needs: [forms],
  cost: cost(4, 0, 0, 4),
  async run(context) {
    if (context.voice.absent) return;
    const { minimal, full } = createStartsWithCodec(context, NO_CODEC);
    const calls = [
      context.send(callStep('unsupported codec', 'refuse', asking(minimal))),
      context.send(callStep('unsupported codec, full', 'refuse', asking(full))),
    ];
    if (context.voice.media !== 'none') {
      calls.push(
        context.send(failing('answer unusable', context, () => 'This is no description.')),
        context.send(failing('keys refused', context, withOtherKeys)),
      );
    }
    await Promise.all(calls);
  },
};

/** A certificate that is not the kit's: whoever holds to it can't talk to the kit. */
const withOtherKeys = (answer: string): string =>
  answer.replace(FINGERPRINT, `$1 ${Array(32).fill('00').join(':')}`);

function failing(step: string, context: SandboxContext, change: (answer: string) => string): Step {
  return callStep(step, 'open', async (line) => {
    line.send(createFullStart(context));
    const ready = await line.waitForMessage(['call_ready', 'error'], READY_MS_MAX);
    if (ready?.['type'] !== 'call_ready') return;
    const connecting = line.connect(ready, change);
    await line.waitForMessage(['error'], FAILURE_MS_MAX);
    await line.waitUntilClosed(CLOSE_MS_MAX);
    await Promise.race([connecting, line.hangUp()]);
  });
}

/** What is no message, or none in its place: the specification does not say what follows. */
export const silences: SandboxProbe = {
  id: 'voice/silences',
  area: 'voice',
  phase: 'refused',
  exercises: [],
  cost: cost(6, 0, 0, 6),
  async run(context) {
    if (context.voice.absent) return;
    const bytes = new TextEncoder().encode(JSON.stringify(minimalStart));
    const first = (step: string, message: object | string | Uint8Array): Step =>
      callStep(step, 'open', async (line) => {
        line.send(message);
        await line.waitUntilClosed(REACTION_MS_MAX);
      });
    const later = (step: string, message: object): Step =>
      callStep(step, 'open', async (line) => {
        line.send(createFullStart(context));
        const ready = await line.waitForMessage(['call_ready', 'error'], READY_MS_MAX);
        if (ready?.['type'] === 'call_ready') line.send(message);
        await line.waitUntilClosed(REACTION_MS_MAX);
      });
    await Promise.all([
      context.send(first('not JSON', 'Hello?')),
      context.send(first('no type', { audio_config: { codec: 'opus' } })),
      context.send(first('binary start_call', bytes)),
      context.send(first('no audio_config', { type: 'start_call' })),
      context.send(later('unknown type', { type: 'sandbox_kit_unknown', note: 'Ignore this.' })),
      context.send(later('second start_call', minimalStart)),
    ]);
  },
};

/** What a sandbox must refuse, may refuse, or must live through. */
export const refusalProbes: readonly SandboxProbe[] = [handshake, failures, silences];
