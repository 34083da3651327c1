import type { Clip } from '../../../src/voice/opus/index.ts';
import type { Call, CallMessage, CallScript } from '../../engine/drive/call/script.ts';
import { cost, type Step } from '../../engine/probe.ts';
import {
  findUnknownPathRefusal,
  isBrokenDuringSetup,
  isOpened,
  UNKNOWN_PATH,
  UPGRADE,
} from '../../engine/transcript/call-messages.ts';
import { PREFLIGHT } from '../../engine/transcript/reading.ts';
import type { SandboxContext, SandboxProbe } from '../sandbox-state.ts';
import type { VoiceRequirementId } from './requirements.ts';
import {
  AFTER_CALLS,
  createFullStart,
  createStartsWithCodec,
  minimalStart,
  openCall,
  READY_MS_MAX,
  refusedCall,
  validCall,
  type OpenVoiceStep,
  type ValidVoiceStep,
  type VoiceStep,
} from './steps.ts';

type VoiceProbe = SandboxProbe<VoiceRequirementId>;

/** How long a probe waits for a greeting; many agents don't greet. */
const GREETING_MS_MAX = 1_500;
/** How long a probe waits for a reply to start; models need time. */
const REPLY_MS_MAX = 15_000;
/** How long a greeting or a reply may last. */
const SPEECH_MS_MAX = 20_000;
/** How long a probe waits for an update after the reply. */
const UPDATE_MS_MAX = 2_000;
/** How long a probe records media after the hang-up. */
const LISTEN_MS = 2_500;
/** How long a probe waits for the WebSocket to close after an error. */
const CLOSE_MS_MAX = 1_000;
/** How long a probe waits for a reaction to a message for which the specification defines none. */
const REACTION_MS_MAX = 1_500;
/** How long a probe waits for the error about a failed connection; ICE retries for a while. */
const FAILURE_MS_MAX = 5_000;

/** The usual duration of the setup of a call with its greeting, and of a turn with a short reply. */
const SETUP_MS = 2_500;
const TURN_MS = 4_000;
/** The usual duration of a call that is requested and not connected. */
const REQUEST_MS = 200;
/** The usual duration of a call whose media can't connect. */
const FAILURE_MS = 3_000;

const UNKNOWN_CODEC = 'sandbox-kit-none';
const UNKNOWN_PROTOCOL = 'sandbox-kit-none';
const FINGERPRINT = /^(a=fingerprint:\S+) .*$/gm;

const preflight: VoiceProbe = {
  id: PREFLIGHT,
  area: 'voice',
  phase: 'preflight',
  exercises: ['VOICE-001', 'VOICE-002', 'VOICE-003'],
  cost: cost(1, 0, 0, 1),
  callTime: { eachMs: REQUEST_MS },
  async run(context) {
    const upgrade = await context.send(validCall(UPGRADE));
    if (!upgrade || isOpened(upgrade) || upgrade.failure?.kind === 'refused') return;
    const path = upgrade.request.path.replace(/[^/]*$/, `sandbox-kit-${context.random.id(8)}`);
    const unknownPath = await context.send(openCall(UNKNOWN_PATH, undefined, { path }));
    context.voice.refused = findUnknownPathRefusal([
      upgrade,
      ...(unknownPath ? [unknownPath] : []),
    ]);
  },
};

/** Sends a `start_call` and returns the `call_ready` or `error` message. */
async function requestCall(call: Call, start: CallMessage): Promise<CallMessage | undefined> {
  call.send(start);
  return call.waitForMessage(['call_ready', 'error'], READY_MS_MAX);
}

/** Requests a call and hangs up after the first response. */
const requestOnly =
  (start: CallMessage): CallScript =>
  async (call) => {
    await requestCall(call, start);
  };

/** Sends each form of `start_call` in its own call, one after another. */
const forms: VoiceProbe = {
  id: 'voice/forms',
  area: 'voice',
  phase: 'accepted',
  exercises: [
    ...(['VOICE-010', 'VOICE-011', 'VOICE-012', 'VOICE-014', 'VOICE-015', 'VOICE-016'] as const),
    ...(['VOICE-020', 'VOICE-021', 'VOICE-022', 'VOICE-023', 'VOICE-024', 'VOICE-025'] as const),
    ...(['VOICE-026', 'VOICE-027', 'VOICE-050', 'VOICE-051', 'VOICE-052', 'VOICE-053'] as const),
    ...(['VOICE-054', 'VOICE-055', 'VOICE-056', 'VOICE-057', 'VOICE-058', 'VOICE-059'] as const),
    ...(['VOICE-062', 'VOICE-063'] as const),
  ],
  cost: cost(5, 0, 0, 5),
  callTime: { eachMs: REQUEST_MS, isSerial: true },
  async run(context) {
    if (context.voice.isAbsent) return;
    const { user_id: _user, ...withoutUser } = createFullStart(context);
    const { session_id: _session, ...withoutSession } = createFullStart(context);
    const { type, metadata } = createFullStart(context);
    const starts: [step: ValidVoiceStep, start: CallMessage][] = [
      ['minimal', minimalStart],
      ['full', createFullStart(context)],
      ['without user_id', withoutUser],
      ['without session_id', withoutSession],
      ['only metadata', { type, metadata }],
    ];
    for (const [step, start] of starts) await context.send(validCall(step, requestOnly(start)));
  },
};

/** Starts a call with media and waits until the greeting ends; returns whether media flows. */
async function beginCall(call: Call, context: SandboxContext): Promise<boolean> {
  const ready = await requestCall(call, createFullStart(context));
  if (ready?.['type'] !== 'call_ready' || context.voice.media === 'none') return false;
  const connection = await call.connect(ready);
  if (connection === 'flows') context.voice.media = 'flows';
  if (connection === 'none' && context.voice.media === 'unknown') context.voice.media = 'none';
  if (connection !== 'flows') return false;
  if (await call.waitUntilAudible(GREETING_MS_MAX)) await call.waitUntilSilent(SPEECH_MS_MAX);
  return true;
}

/**
 * Places a call, and repeats it once if the connection broke during setup after a network path was
 * found. That happens now and then; with a broken sandbox, it happens both times.
 */
async function placeCall(context: SandboxContext, step: Step<VoiceStep>): Promise<void> {
  const call = await context.send(step);
  if (call && isBrokenDuringSetup(call)) await context.send(step);
}

/** Plays a clip and listens to the reply; returns whether there was one and the call is still open. */
async function takeTurn(call: Call, context: SandboxContext, id: string): Promise<boolean> {
  const clip = (await context.voice.clips()).find((candidate: Clip) => candidate.id === id);
  if (!clip) throw new Error(`There is no clip ${id}.`);
  await call.speak(clip);
  const hasReply = await call.waitUntilAudible(REPLY_MS_MAX);
  if (hasReply) await call.waitUntilSilent(SPEECH_MS_MAX);
  await call.waitForMessage(['conversation_update'], UPDATE_MS_MAX);
  return hasReply && call.isOpen;
}

/** Holds one call like a simulated user: with turns, full replies, and a hang-up. */
export const conversation: VoiceProbe = {
  id: 'voice/conversation',
  area: 'voice',
  phase: 'accepted',
  exercises: [
    ...(['VOICE-013', 'VOICE-090'] as const),
    ...(['VOICE-030', 'VOICE-031', 'VOICE-032', 'VOICE-033', 'VOICE-034', 'VOICE-035'] as const),
    ...(['VOICE-070', 'VOICE-071', 'VOICE-072', 'VOICE-073', 'VOICE-074', 'VOICE-075'] as const),
    ...(['VOICE-076', 'VOICE-077'] as const),
  ],
  cost: cost(1, 2, 0, 1),
  callTime: { eachMs: SETUP_MS + 2 * TURN_MS },
  async run(context) {
    if (context.voice.isAbsent) return;
    await placeCall(
      context,
      validCall('conversation', async (call) => {
        if (!(await beginCall(call, context))) return;
        for (const id of ['where-is-my-order', 'opening-hours']) {
          if (!(await takeTurn(call, context, id))) break;
        }
      }),
    );
  },
};

/** Holds two concurrent calls with different turns; the longer one continues after the other ends. */
const overlap: VoiceProbe = {
  id: 'voice/overlap',
  area: 'voice',
  phase: 'accepted',
  exercises: ['VOICE-060', 'VOICE-061', 'VOICE-070', 'VOICE-080'],
  cost: cost(2, 3, 0, 2),
  callTime: { eachMs: SETUP_MS + 2 * TURN_MS },
  async run(context) {
    if (context.voice.isAbsent) return;
    const shorterEnded = Promise.withResolvers<undefined>();
    const shorter = validCall('overlap', async (call) => {
      if (await beginCall(call, context)) {
        await takeTurn(call, context, 'opening-hours');
        const hangingUp = call.hangUp(LISTEN_MS);
        shorterEnded.resolve(undefined);
        await hangingUp;
      }
    });
    const longer = validCall('longer overlap', async (call) => {
      if (!(await beginCall(call, context))) return;
      if (!(await takeTurn(call, context, 'return-shoes'))) return;
      await shorterEnded.promise;
      await takeTurn(call, context, 'thank-you');
    });
    await Promise.all([
      placeCall(context, shorter).finally(() => shorterEnded.resolve(undefined)),
      placeCall(context, longer),
    ]);
  },
};

/** Requests a call that may be refused, and waits for the close after an error. */
const requestRefused =
  (start: CallMessage): CallScript =>
  async (call) => {
    const response = await requestCall(call, start);
    if (response?.['type'] === 'error') await call.waitUntilClosed(CLOSE_MS_MAX);
  };

/** Sends WebSocket requests without the subprotocol or the key. */
const handshake: VoiceProbe = {
  id: 'voice/handshake',
  area: 'voice',
  phase: 'refused',
  exercises: ['VOICE-004', 'VOICE-005'],
  cost: cost(5, 0, 0, 5),
  callTime: { eachMs: REQUEST_MS + CLOSE_MS_MAX },
  async run(context) {
    if (context.voice.isAbsent) return;
    const script = requestRefused(minimalStart);
    const control = await context.send(validCall('control', script));
    const withProtocol = (name: string): Pick<Step, 'control' | 'headers'> => ({
      control,
      headers: { 'sec-websocket-protocol': name },
    });
    await Promise.all([
      context.send(refusedCall('no subprotocol', script, withProtocol(''))),
      context.send(refusedCall('another subprotocol', script, withProtocol(UNKNOWN_PROTOCOL))),
      context.send(openCall('wrong key', script, { key: 'wrong' })),
      context.send(openCall('no key', script, { key: 'none' })),
    ]);
  },
};

/** Sends calls that can't succeed: an unknown codec, an unusable SDP answer, a wrong fingerprint. */
const failures: VoiceProbe = {
  id: 'voice/failures',
  area: 'voice',
  phase: 'refused',
  exercises: ['VOICE-040', 'VOICE-041', 'VOICE-042', 'VOICE-043', 'VOICE-044', 'VOICE-045'],
  needs: [forms],
  cost: cost(4, 0, 0, 4),
  callTime: { eachMs: FAILURE_MS },
  async run(context) {
    if (context.voice.isAbsent) return;
    const { minimal, full } = createStartsWithCodec(context, UNKNOWN_CODEC);
    const calls = [
      context.send(refusedCall('unsupported codec', requestRefused(minimal))),
      context.send(refusedCall('unsupported codec, full', requestRefused(full))),
    ];
    if (context.voice.media !== 'none') {
      calls.push(
        context.send(answerWith('unusable answer', context, () => 'This is not SDP.')),
        context.send(answerWith('wrong fingerprint', context, replaceFingerprint)),
      );
    }
    await Promise.all(calls);
  },
};

/** Replaces the fingerprint of the kit's certificate, so that DTLS must fail. */
const replaceFingerprint = (answer: string): string =>
  answer.replace(FINGERPRINT, `$1 ${Array(32).fill('00').join(':')}`);

/** Creates a step with a call whose SDP answer is changed. */
function answerWith(
  step: OpenVoiceStep,
  context: SandboxContext,
  changeAnswer: (answer: string) => string,
): Step<OpenVoiceStep> {
  return openCall(step, async (call) => {
    const ready = await requestCall(call, createFullStart(context));
    if (ready?.['type'] !== 'call_ready') return;
    const connecting = call.connect(ready, changeAnswer);
    await call.waitForMessage(['error'], FAILURE_MS_MAX);
    await call.waitUntilClosed(CLOSE_MS_MAX);
    await Promise.race([connecting, call.hangUp()]);
  });
}

/** Sends messages for which the specification defines no reaction. */
const silences: VoiceProbe = {
  id: 'voice/silences',
  area: 'voice',
  phase: 'refused',
  exercises: [],
  cost: cost(6, 0, 0, 6),
  callTime: { eachMs: REQUEST_MS + REACTION_MS_MAX },
  async run(context) {
    if (context.voice.isAbsent) return;
    const bytes = new TextEncoder().encode(JSON.stringify(minimalStart));
    const sendFirst = (
      step: OpenVoiceStep,
      message: object | string | Uint8Array,
    ): Step<OpenVoiceStep> =>
      openCall(step, async (call) => {
        call.send(message);
        await call.waitUntilClosed(REACTION_MS_MAX);
      });
    const sendAfterReady = (step: OpenVoiceStep, message: object): Step<OpenVoiceStep> =>
      openCall(step, async (call) => {
        const ready = await requestCall(call, createFullStart(context));
        if (ready?.['type'] === 'call_ready') call.send(message);
        await call.waitUntilClosed(REACTION_MS_MAX);
      });
    const unknown = { type: 'sandbox_kit_unknown', note: 'Ignore this.' };
    await Promise.all([
      context.send(sendFirst('not JSON', 'Hello?')),
      context.send(sendFirst('no type', { audio_config: { codec: 'opus' } })),
      context.send(sendFirst('binary start_call', bytes)),
      context.send(sendFirst('no audio_config', { type: 'start_call' })),
      context.send(sendAfterReady('unknown type', unknown)),
      context.send(sendAfterReady('second start_call', minimalStart)),
    ]);
  },
};

/** Places a valid call and requests health after all other calls. */
const after: VoiceProbe = {
  id: 'voice/after',
  area: 'voice',
  phase: 'after',
  exercises: ['VOICE-081', 'VOICE-082', 'VOICE-083'],
  needs: [forms, silences],
  cost: cost(2, 0, 0, 1),
  callTime: { eachMs: REQUEST_MS },
  async run(context) {
    if (context.voice.isAbsent) return;
    await placeCall(
      context,
      validCall('after other calls', async (call) => {
        const ready = await requestCall(call, createFullStart(context));
        if (ready?.['type'] === 'call_ready' && context.voice.media === 'flows') {
          await call.connect(ready);
        }
      }),
    );
    await context.send({ endpoint: 'health', step: AFTER_CALLS, intent: 'valid' });
  },
};

/** The probes of the voice WebSocket. */
export const voiceProbes: readonly VoiceProbe[] = [
  preflight,
  forms,
  conversation,
  overlap,
  handshake,
  failures,
  silences,
  after,
];
