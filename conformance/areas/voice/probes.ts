/** What a run sends to the voice WebSocket, in the order it is sent. */
import type { Clip } from '../../../src/voice/opus/index.ts';
import type { Call, CallMessage, CallScript } from '../../engine/drive/call/script.ts';
import { cost, type ProbeEntry, type Step } from '../../engine/probe.ts';
import {
  findUnknownPathRefusal,
  isBrokenDuringSetup,
  isOpened,
  UNKNOWN_PATH,
  UPGRADE,
} from '../../engine/transcript/call-messages.ts';
import { PREFLIGHT } from '../../engine/transcript/reading.ts';
import type { SandboxContext, SandboxState } from '../sandbox-state.ts';
import { STOP_MS_MAX } from './media-evidence.ts';
import {
  AFTER_CALLS,
  createCallStep,
  createFullStart,
  minimalStart,
  type VoiceStep,
} from './requests.ts';

type VoiceProbe = ProbeEntry<SandboxState>;

/** How long a probe waits for `call_ready`; the specification sets no limit. */
const READY_MS_MAX = 15_000;
/** How long a probe waits for a greeting; many agents don't greet. */
const GREETING_MS_MAX = 1_500;
/** How long a probe waits for a reply to start; models need time. */
const REPLY_MS_MAX = 15_000;
/** How long a greeting or a reply may last. */
const SPEECH_MS_MAX = 20_000;
/** How long a probe waits for an update after the reply. */
const UPDATE_MS_MAX = 2_000;
/** How long a probe records media after the hang-up: longer than media may take to stop. */
const LISTEN_MS = STOP_MS_MAX + 250;
/** How long a probe waits for the WebSocket to close after an error. */
const CLOSE_MS_MAX = 1_000;
/** How long a probe waits for a reaction that the specification leaves open. */
const REACTION_MS_MAX = 500;
/** How long a probe waits for the error about a failed connection; ICE retries for a while. */
const FAILURE_MS_MAX = 5_000;

/** The clip that probes play: a short question that needs only a short reply. */
const QUESTION_ID = 'open-now';

/** The usual duration of the setup of a call with its greeting, and of a turn with a short reply. */
const SETUP_MS = 2_500;
const TURN_MS = 2_000;
/** The usual duration of a turn that ends when its reply starts. */
const CUT_TURN_MS = 1_200;
/** The usual duration of a call that is requested and not connected. */
const REQUEST_MS = 200;
/** The usual duration of a call whose media can't connect. */
const FAILURE_MS = 3_000;

const UNKNOWN_CODEC = 'sandbox-kit-none';
const UNKNOWN_PROTOCOL = 'sandbox-kit-none';
const FINGERPRINT = /^(a=fingerprint:\S+) .*$/gm;

/** Creates a probe that sends nothing once it is known that the sandbox has no voice endpoint. */
const createProbe = (probe: Omit<VoiceProbe, 'area'>): VoiceProbe => ({
  ...probe,
  area: 'voice',
  async run(context) {
    if (!context.voice.isAbsent) await probe.run(context);
  },
});

const preflight = createProbe({
  id: PREFLIGHT,
  phase: 'preflight',
  cost: cost(1, 0, 0, 1),
  callTime: { eachMs: REQUEST_MS },
  async run(context) {
    const upgrade = await context.send(createCallStep(UPGRADE));
    if (!upgrade || isOpened(upgrade) || upgrade.failure?.kind === 'refused') return;
    const path = upgrade.request.path.replace(/[^/]*$/, `sandbox-kit-${context.random.id(8)}`);
    const unknownPath = await context.send(createCallStep(UNKNOWN_PATH, undefined, { path }));
    context.voice.refused = findUnknownPathRefusal([
      upgrade,
      ...(unknownPath ? [unknownPath] : []),
    ]);
  },
});

/** The first message of a call; a string or bytes are sent unchanged. */
type FirstMessage = CallMessage | string | Uint8Array;

/** Sends the first message, and returns the `call_ready` or `error` message. */
async function requestCall(
  call: Call,
  start: FirstMessage,
  waitMs = READY_MS_MAX,
): Promise<CallMessage | undefined> {
  call.send(start);
  return call.waitForMessage(['call_ready', 'error'], waitMs);
}

/** Requests a call and hangs up after the first response. */
const requestOnly =
  (start: CallMessage): CallScript =>
  async (call) => {
    await requestCall(call, start);
  };

/** Sends each form of `start_call` in its own call, one after another. */
const forms = createProbe({
  id: 'voice/forms',
  phase: 'accepted',
  cost: cost(5, 0, 0, 5),
  callTime: { eachMs: REQUEST_MS, isSerial: true },
  async run(context) {
    const { user_id: _user, ...withoutUser } = createFullStart(context);
    const { session_id: _session, ...withoutSession } = createFullStart(context);
    const { type, metadata } = createFullStart(context);
    const starts: [step: VoiceStep, start: CallMessage][] = [
      ['minimal', minimalStart],
      ['full', createFullStart(context)],
      ['without user_id', withoutUser],
      ['without session_id', withoutSession],
      ['only metadata', { type, metadata }],
    ];
    for (const [step, start] of starts)
      await context.send(createCallStep(step, requestOnly(start)));
  },
});

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

/** Asks a question; returns whether a reply started. */
async function ask(call: Call, context: SandboxContext): Promise<boolean> {
  const clip = (await context.voice.clips()).find(({ id }: Clip) => id === QUESTION_ID);
  if (!clip) throw new Error(`There is no clip ${QUESTION_ID}.`);
  await call.speak(clip);
  return call.waitUntilAudible(REPLY_MS_MAX);
}

/** Takes a turn with a full reply. */
async function takeTurn(call: Call, context: SandboxContext): Promise<void> {
  if (await ask(call, context)) await call.waitUntilSilent(SPEECH_MS_MAX);
  await call.waitForMessage(['conversation_update'], UPDATE_MS_MAX);
}

/**
 * Takes a turn only until the reply starts and the update arrives. The hang-up that follows
 * interrupts the reply, as users do, and saves the time of listening to it.
 */
async function takeCutTurn(call: Call, context: SandboxContext): Promise<void> {
  await ask(call, context);
  await call.waitForMessage(['conversation_update'], UPDATE_MS_MAX);
}

/** Holds one call like a simulated user: with a turn, a full reply, and a hang-up. */
export const conversation = createProbe({
  id: 'voice/conversation',
  phase: 'accepted',
  cost: cost(1, 1, 0, 1),
  callTime: { eachMs: SETUP_MS + TURN_MS },
  async run(context) {
    await placeCall(
      context,
      createCallStep('conversation', async (call) => {
        if (await beginCall(call, context)) await takeTurn(call, context);
      }),
    );
  },
});

/** Holds two concurrent calls; the user of the longer one speaks after the other has hung up. */
const overlap = createProbe({
  id: 'voice/overlap',
  phase: 'accepted',
  cost: cost(2, 2, 0, 2),
  callTime: { eachMs: SETUP_MS + 2 * CUT_TURN_MS },
  async run(context) {
    const shorterEnded = Promise.withResolvers<undefined>();
    const shorter = createCallStep('overlap', async (call) => {
      if (!(await beginCall(call, context))) return;
      await takeCutTurn(call, context);
      const hangingUp = call.hangUp(LISTEN_MS);
      shorterEnded.resolve(undefined);
      await hangingUp;
    });
    const longer = createCallStep('longer overlap', async (call) => {
      if (!(await beginCall(call, context))) return;
      await shorterEnded.promise;
      await takeCutTurn(call, context);
    });
    // The kit only listens after the hang-up, so the next phase doesn't wait for that.
    context.continueInBackground(
      placeCall(context, shorter).finally(() => shorterEnded.resolve(undefined)),
    );
    await placeCall(context, longer);
    await shorterEnded.promise;
  },
});

/** Requests a call that may be refused, and waits for the close after an error. */
const requestRefused =
  (start: FirstMessage, waitMs?: number): CallScript =>
  async (call) => {
    const response = await requestCall(call, start, waitMs);
    if (response?.['type'] === 'error') await call.waitUntilClosed(CLOSE_MS_MAX);
  };

/** Sends WebSocket requests without the subprotocol or the key. */
const handshake = createProbe({
  id: 'voice/handshake',
  phase: 'refused',
  cost: cost(5, 0, 0, 5),
  callTime: { eachMs: REQUEST_MS + CLOSE_MS_MAX },
  async run(context) {
    const script = requestRefused(minimalStart);
    const control = await context.send(createCallStep('control', script));
    const withProtocol = (name: string): Pick<Step, 'control' | 'headers'> => ({
      control,
      headers: { 'sec-websocket-protocol': name },
    });
    await Promise.all([
      context.send(createCallStep('no subprotocol', script, withProtocol(''))),
      context.send(createCallStep('another subprotocol', script, withProtocol(UNKNOWN_PROTOCOL))),
      context.send(createCallStep('wrong key', script, { key: 'wrong' })),
      context.send(createCallStep('no key', script, { key: 'none' })),
    ]);
  },
});

/** Sends calls that can't succeed: an unknown codec, an unusable SDP answer, a wrong fingerprint. */
const failures = createProbe({
  id: 'voice/failures',
  phase: 'refused',
  needs: [forms],
  cost: cost(4, 0, 0, 4),
  callTime: { eachMs: FAILURE_MS },
  async run(context) {
    const minimal = { ...minimalStart, audio_config: { codec: UNKNOWN_CODEC } };
    const full = createFullStart(context, UNKNOWN_CODEC);
    const calls = [
      context.send(createCallStep('unsupported codec', requestRefused(minimal))),
      context.send(createCallStep('unsupported codec, full', requestRefused(full))),
    ];
    if (context.voice.media !== 'none') {
      calls.push(
        context.send(answerWith('unusable answer', context, () => 'This is not SDP.')),
        context.send(answerWith('wrong fingerprint', context, replaceFingerprint)),
      );
    }
    await Promise.all(calls);
  },
});

/** Replaces the fingerprint of the kit's certificate, so that DTLS must fail. */
const replaceFingerprint = (answer: string): string =>
  answer.replace(FINGERPRINT, `$1 ${Array(32).fill('00').join(':')}`);

/** Creates a step with a call whose SDP answer is changed. */
function answerWith(
  step: VoiceStep,
  context: SandboxContext,
  changeAnswer: (answer: string) => string,
): Step<VoiceStep> {
  return createCallStep(step, async (call) => {
    const ready = await requestCall(call, createFullStart(context));
    if (ready?.['type'] !== 'call_ready') return;
    const connecting = call.connect(ready, changeAnswer);
    await call.waitForMessage(['error'], FAILURE_MS_MAX);
    await call.waitUntilClosed(CLOSE_MS_MAX);
    await Promise.race([connecting, call.hangUp()]);
  });
}

/** Sends messages to which the specification defines no reaction. */
const silences = createProbe({
  id: 'voice/silences',
  phase: 'refused',
  cost: cost(6, 0, 0, 6),
  callTime: { eachMs: REQUEST_MS + REACTION_MS_MAX },
  async run(context) {
    const bytes = new TextEncoder().encode(JSON.stringify(minimalStart));
    const sendFirst = (step: VoiceStep, message: FirstMessage): Step =>
      createCallStep(step, requestRefused(message, REACTION_MS_MAX));
    const sendAfterReady = (step: VoiceStep, message: object): Step<VoiceStep> =>
      createCallStep(step, async (call) => {
        const ready = await requestCall(call, createFullStart(context));
        if (ready?.['type'] === 'call_ready') call.send(message);
        const error = await call.waitForMessage(['error'], REACTION_MS_MAX);
        if (error) await call.waitUntilClosed(CLOSE_MS_MAX);
      });
    const unknown = { type: 'sandbox_kit_unknown', note: 'Ignore this.' };
    // Those that wait for a reaction start first.
    await Promise.all([
      context.send(sendAfterReady('unknown type', unknown)),
      context.send(sendAfterReady('second start_call', minimalStart)),
      context.send(sendFirst('not JSON', 'Hello?')),
      context.send(sendFirst('no type', { audio_config: { codec: 'opus' } })),
      context.send(sendFirst('binary start_call', bytes)),
      context.send(sendFirst('no audio_config', { type: 'start_call' })),
    ]);
  },
});

/** Places a valid call and requests health after all other calls. */
const after = createProbe({
  id: 'voice/after',
  phase: 'after',
  needs: [forms, silences],
  cost: cost(2, 0, 0, 1),
  callTime: { eachMs: REQUEST_MS },
  async run(context) {
    await placeCall(
      context,
      createCallStep('after other calls', async (call) => {
        const ready = await requestCall(call, createFullStart(context));
        if (ready?.['type'] === 'call_ready' && context.voice.media === 'flows') {
          await call.connect(ready);
        }
      }),
    );
    await context.send({ endpoint: 'health', step: AFTER_CALLS, intent: 'valid' });
  },
});

/** The probes of the voice WebSocket. */
export const voiceProbes: readonly VoiceProbe[] = [
  preflight,
  forms,
  conversation,
  overlap,
  silences,
  failures,
  handshake,
  after,
];
