import type { WebSocket } from 'ws';
import { callerMessageNames, isMessage } from '../../contract/index.ts';
import { limitSignal } from '../../platform/abort.ts';
import { findUrlProblem } from '../../platform/base-url.ts';
import { systemClock, MINUTE_MS } from '../../platform/clock.ts';
import { cutToBytes } from '../../platform/cut-to-bytes.ts';
import { errorOrigin } from '../../platform/error-origin.ts';
import { parseObject } from '../../platform/json.ts';
import type { Log } from '../../platform/log.ts';
import { CallError } from '../../voice/call/call-error.ts';
// Imported directly, because the entry point of calls loads WebRTC.
import { CallSignaling } from '../../voice/call/call-signaling.ts';
import { defaultAnswerForm, deriveVoiceUrl } from '../../voice/call/voice-target.ts';
import { RequestError } from '../requests/errors.ts';
import type { Store } from '../store/store.ts';
import { findDocument } from './documents.ts';

/** The most calls of browsers at the same time, in one process. */
const BROWSER_CALLS_MAX = 10;
/** How long a call from a browser may last. */
const CALL_MS_MAX = 1_800_000;
/** The most messages that a browser may send in a call. */
const MESSAGES_MAX = 2_000;
/** The most bytes that wait to be sent to a browser that reads too slowly. */
const WAITING_BYTES_MAX = 4 * 1024 * 1024;
/** A close reason has at most 123 bytes (RFC 6455, section 5.5). */
const REASON_BYTES_MAX = 123;

/** The close code for a call that the agent refused or ended, or that reached a limit. */
const CALL_ENDED = 4000;
/** The close code for a message that no browser of ours sends. */
const UNKNOWN_MESSAGE = 1008;

/** Relays the signaling of calls that people place from their browsers. */
export interface BrowserCalls {
  /**
   * Opens the voice WebSocket of an agent with its key (spec 4.9), accepts the browser's, and passes
   * the messages of both sides on until one side closes. The audio flows between browser and agent.
   * @throws RequestError `not_found`, `bad_request` for an address that must not be called, or `busy`
   * with too many calls.
   */
  relay(call: BrowserCall): Promise<void>;
}

/** A call that a browser wants to place. */
export interface BrowserCall {
  ownerId: string;
  agentId: string;
  /** Accepts the WebSocket of the browser. */
  accept: () => Promise<WebSocket>;
}

/** Creates what relays calls until the service stops. */
export function createBrowserCalls({
  store,
  log,
  stopping,
}: {
  store: Pick<Store, 'documents'>;
  log: Log;
  stopping: AbortSignal;
}): BrowserCalls {
  let calls = 0;
  return {
    async relay({ ownerId, agentId, accept }) {
      const agent = await findDocument(store, ownerId, 'agent', agentId);
      const apiKey = await store.documents.findApiKey(ownerId, agentId);
      if (calls >= BROWSER_CALLS_MAX) {
        const message = `${BROWSER_CALLS_MAX} calls from browsers are in progress. End one first.`;
        throw new RequestError('busy', message);
      }
      const url = agent.voice_url ?? deriveVoiceUrl(agent.url);
      const problem = findUrlProblem(url);
      if (problem !== undefined) {
        throw new RequestError('bad_request', `The voice URL of the agent ${problem}.`);
      }
      const signaling = new CallSignaling(systemClock, {
        url,
        apiKey,
        ca: undefined,
        answerForm: defaultAnswerForm,
        mediaAddress: undefined,
      });
      calls += 1;
      try {
        await relayMessages(await accept(), signaling, { log, stopping });
      } finally {
        calls -= 1;
        await signaling.hangUp();
      }
    },
  };
}

/** Passes messages on until the call is over. */
async function relayMessages(
  browser: WebSocket,
  signaling: CallSignaling,
  { log, stopping }: { log: Log; stopping: AbortSignal },
): Promise<void> {
  const over = Promise.withResolvers<undefined>();
  const end = (code: number, reason: string): void => {
    browser.close(code, cutToBytes(reason, REASON_BYTES_MAX));
    over.resolve(undefined);
  };
  // The agent is called with the first message, which waits for its WebSocket.
  let opening: Promise<void> | undefined;
  let messages = 0;
  browser.on('error', () => undefined);
  browser.on('close', () => over.resolve(undefined));
  browser.on('message', (data: Buffer) => {
    messages += 1;
    const message = messages > MESSAGES_MAX ? undefined : readMessage(data.toString('utf8'));
    if (!message) {
      end(UNKNOWN_MESSAGE, 'The page sent a message that a call does not have.');
      return;
    }
    opening ??= signaling.open();
    opening.then(
      () => signaling.send(message),
      (error: unknown) => end(CALL_ENDED, explainFailure(error, log)),
    );
  });
  signaling.onMessage = (message) => {
    if (browser.bufferedAmount > WAITING_BYTES_MAX) end(CALL_ENDED, 'The page reads too slowly.');
    else browser.send(JSON.stringify(message), () => undefined);
  };
  signaling.onEnd = ({ message }) => end(CALL_ENDED, message);
  using limit = limitSignal(systemClock, CALL_MS_MAX, stopping);
  limit.signal.addEventListener('abort', () => {
    if (limit.isOver()) end(CALL_ENDED, `A call lasts at most ${CALL_MS_MAX / MINUTE_MS} minutes.`);
    else end(1001, 'The service stops.');
  });
  await over.promise;
}

/** Returns why a call did not begin. The log has the cause of what is not the agent's. */
function explainFailure(error: unknown, log: Log): string {
  if (error instanceof CallError) return error.message;
  log.error('browser_call_failed', { ...errorOrigin(error) });
  return 'The service could not place the call. See the log of this service.';
}

function readMessage(text: string): Record<string, unknown> | undefined {
  const message = parseObject(text);
  const type = message?.['type'];
  if (typeof type !== 'string' || !Object.hasOwn(callerMessageNames, type)) return undefined;
  const name = callerMessageNames[type];
  return name !== undefined && isMessage(name, message) ? { ...message } : undefined;
}
