import { cost, type Step } from '../../../engine/probe.ts';
import type { SandboxContext, SandboxProbe } from '../../sandbox-state.ts';
import type { Clip } from '../../../../src/voice/opus/index.ts';
import type { Call, CallMessage } from '../../../engine/drive/call/script.ts';
import { callStep, createFullStart, READY_MS_MAX } from '../steps.ts';
import { isBrokenDuringSetup } from '../../../engine/transcript/call-messages.ts';

/** A sandbox that greets does so within this. */
const GREETING_MS_MAX = 1_500;
/** Until a reply can be heard: models take their time. */
const REPLY_MS_MAX = 15_000;
/** Until a reply is over. */
const SPEECH_MS_MAX = 20_000;
/** An update may come when the reply is over. */
const UPDATE_MS_MAX = 2_000;
/** After the hang-up media is still listened for. */
const LISTEN_MS = 2_500;

/** Begins a call with media; false where it does not come to that. */
async function beginCall(
  line: Call,
  context: SandboxContext,
  start: CallMessage,
): Promise<boolean> {
  line.send(start);
  const ready = await line.waitForMessage(['call_ready', 'error'], READY_MS_MAX);
  if (ready?.['type'] !== 'call_ready' || context.voice.media === 'none') return false;
  const connection = await line.connect(ready);
  if (connection === 'flows') context.voice.media = 'flows';
  if (connection === 'none' && context.voice.media === 'unknown') context.voice.media = 'none';
  if (connection !== 'flows') return false;
  if (await line.waitUntilHeard(GREETING_MS_MAX)) await line.waitUntilSilent(SPEECH_MS_MAX);
  return true;
}

/**
 * Places a call, once more where the two sides found each other and the connection broke while it
 * was made: that happens now and then, and to a sandbox that is broken always.
 */
export async function placeCall(context: SandboxContext, step: Step): Promise<void> {
  const call = await context.send(step);
  if (call && isBrokenDuringSetup(call)) await context.send(step);
}

/** Says a clip and hears the reply out; whether there was one. */
async function takeTurn(line: Call, context: SandboxContext, id: string): Promise<boolean> {
  const clip = (await context.voice.clips()).find((one: Clip) => one.id === id);
  if (!clip) throw new Error(`there is no clip ${id}`);
  await line.speak(clip);
  const isHeard = await line.waitUntilHeard(REPLY_MS_MAX);
  if (isHeard) await line.waitUntilSilent(SPEECH_MS_MAX);
  await line.waitForMessage(['conversation_update'], UPDATE_MS_MAX);
  return isHeard && line.isOpen;
}

/** One call as a simulated user has it: with turns, heard out, and hung up. */
export const conversation: SandboxProbe = {
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
  async run(context) {
    if (context.voice.absent) return;
    await placeCall(
      context,
      callStep('conversation', 'valid', async (line) => {
        if (!(await beginCall(line, context, createFullStart(context)))) return;
        for (const id of ['where-is-my-order', 'opening-hours']) {
          if (!(await takeTurn(line, context, id))) break;
        }
      }),
    );
  },
};

/** Two calls at once, in which different things are said; one goes on when the other is over. */
const overlap: SandboxProbe = {
  id: 'voice/overlap',
  area: 'voice',
  phase: 'accepted',
  exercises: ['VOICE-060', 'VOICE-061', 'VOICE-070', 'VOICE-080'],
  cost: cost(2, 3, 0, 2),
  async run(context) {
    if (context.voice.absent) return;
    const over = Promise.withResolvers<undefined>();
    const first = callStep('overlap', 'valid', async (line) => {
      if (await beginCall(line, context, createFullStart(context))) {
        await takeTurn(line, context, 'opening-hours');
        const hangingUp = line.hangUp(LISTEN_MS);
        over.resolve(undefined);
        await hangingUp;
      }
    });
    const second = callStep('overlap, longer', 'valid', async (line) => {
      if (!(await beginCall(line, context, createFullStart(context)))) return;
      if (!(await takeTurn(line, context, 'return-shoes'))) return;
      await over.promise;
      await takeTurn(line, context, 'thank-you');
    });
    await Promise.all([
      placeCall(context, first).finally(() => over.resolve(undefined)),
      placeCall(context, second),
    ]);
  },
};

/** The calls with media. */
export const mediaProbes: readonly SandboxProbe[] = [conversation, overlap];
