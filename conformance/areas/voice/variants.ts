import { valueAt } from '../../../src/contract/index.ts';
import type { AudioPacket } from '../../../src/voice/peer/index.ts';
import { drop, set } from '../../engine/mutants/combinators.ts';
import { variantsOf, type Variant } from '../../engine/mutants/mutant.ts';
import {
  interceptMessages,
  answerSecondStart,
  editMessages,
  isStart,
  changeMedia,
  messageIn,
  editOffers,
  handleCalls,
  replaceMessages,
  passThrough,
  removeOfferLines,
} from './mutants/combinators.ts';
import type { VoiceTransformFactory } from '../../engine/mutants/call-transform.ts';

const variant = variantsOf('voice');

const calls = (
  name: string,
  is: string,
  voice: VoiceTransformFactory,
  more: Partial<Variant> = {},
): Variant => variant(name, is, passThrough, { voice, ...more });

/** Says every message otherwise. */
const rewritten = (write: (text: string) => [text: string, isBinary?: boolean]): VoiceTransformFactory =>
  handleCalls((ends) => ({ fromSandbox: (text) => ends.toKit(...write(text)) }));

const READY = 'call_ready';
const UPDATE = 'conversation_update';

/** How the request for a WebSocket may be answered. */
const upgrades: Variant[] = [
  calls('absent', 'Has no voice.', refusing(404, /./), { areas: ['health', 'voice'] }),
  calls('absent-403', 'Refuses every upgrade with 403, as it has no voice.', refusing(403, /./), {
    areas: ['health', 'voice'],
  }),
  calls('protocol-unnamed', 'Names no subprotocol.', () => ({ selectProtocol: () => undefined })),
];

function refusing(status: number, path: RegExp): VoiceTransformFactory {
  return () => ({
    respond: (asked) => (path.test(asked.path) ? { status, headers: {}, body: '' } : undefined),
  });
}

const LATE_MS = 700;
const CANDIDATE = /^a=(candidate:.*)\r\n/gm;

/** How messages may look, and when they may come. */
const messages: Variant[] = [
  calls(
    'pretty',
    'Indents its messages.',
    rewritten((text) => [JSON.stringify(messageIn(text), null, 2)]),
  ),
  calls(
    'binary',
    'Sends its messages in binary frames.',
    rewritten((text) => [text, true]),
  ),
  calls(
    'more-keys',
    'Has more fields than the interface.',
    editMessages(READY, set('/agent', { name: 'Ada' }), set('/metadata/region', 'eu')),
  ),
  calls(
    'more-messages',
    'Says more than the interface has.',
    replaceMessages(READY, (message) => [{ type: 'hello' }, message, { type: 'status', up: true }]),
  ),
  calls(
    'bare-ready',
    'Leaves out of call_ready what may be.',
    editMessages(READY, drop('/metadata'), drop('/evaluation_metadata')),
  ),
  calls(
    'bare-updates',
    'Leaves out of updates what may be.',
    editMessages(UPDATE, drop('/metadata'), drop('/evaluation_metadata')),
  ),
  calls(
    'own-sessions',
    'Makes a session up where it was given none.',
    replaceMessages(READY, (message) => [{ session_id: `s-${String(message['call_id'])}`, ...message }]),
  ),
  calls(
    'two-updates',
    'Updates twice a turn.',
    replaceMessages(UPDATE, (message) => [message, message]),
  ),
  calls(
    'updates-at-once',
    'Begins with an update of its greeting.',
    replaceMessages(READY, (message) => [
      message,
      { type: UPDATE, ...idsIn(message), transcript: { user: '', agent: 'Hello!' } },
    ]),
  ),
  calls(
    'ready-late',
    'Takes its time for call_ready.',
    replaceMessages(READY, (message, ends) => {
      void ends.clock.sleep(LATE_MS).then(() => ends.toKit(JSON.stringify(message)));
      return [];
    }),
  ),
  calls(
    'errors-without-details',
    'Says errors without details.',
    editMessages('error', drop('/error/details')),
  ),
  calls(
    'closes-unknown',
    'Closes on what it does not know.',
    interceptMessages(
      ({ type }) => type !== 'start_call' && type !== 'webrtc_answer',
      (ends) => {
        ends.closeKit(1003);
        ends.closeSandbox();
      },
    ),
  ),
  calls(
    'closes-without-code',
    'Closes without a code after an error.',
    handleCalls((ends) => ({
      onSandboxClose: () => ends.closeKit(1005),
    })),
  ),
  calls('restarts', 'Takes a second start_call for the first again.', ignoring(isStart)),
  calls('answers-both', 'Answers a second start_call, too, in its own way.', answerSecondStart()),
];

/** Passes over what is said again. */
function ignoring(when: (message: Record<string, unknown>) => boolean): VoiceTransformFactory {
  return handleCalls((ends) => {
    let said = false;
    return {
      fromKit(text) {
        const isOne = when(messageIn(text) ?? {});
        if (!isOne || !said) ends.toSandbox(text);
        said ||= isOne;
      },
    };
  });
}

const idsIn = (message: Record<string, unknown>): object =>
  Object.fromEntries(
    ['call_id', 'session_id'].flatMap((key) => (key in message ? [[key, message[key]]] : [])),
  );

/** How an offer may look. */
const descriptions: Variant[] = [
  calls(
    'sdp-lf',
    'Ends its lines with LF.',
    editOffers((sdp) => sdp.replaceAll('\r\n', '\n')),
  ),
  calls(
    'sdp-trimmed',
    'Leaves the last line without an end.',
    editOffers((sdp) => sdp.trimEnd()),
  ),
  calls('sdp-no-ssrc', 'Names no sender.', removeOfferLines(/a=(ssrc|msid)/)),
  calls(
    'sdp-capitals',
    'Writes OPUS.',
    editOffers((sdp) => sdp.replace(/opus\/48000/i, 'OPUS/48000')),
  ),
  calls(
    'sdp-more-candidates',
    'Has candidates of all kinds.',
    editOffers((sdp) =>
      sdp.replace(CANDIDATE, (line) =>
        [
          'a=candidate:90 1 tcp 1518280447 127.0.0.1 9 typ host tcptype active\r\n',
          'a=candidate:91 1 udp 2122262783 ::1 40404 typ host\r\n',
          'a=candidate:92 1 udp 2122262783 4c1d2f0e-1b1c-4a0f-9a3c-6a1f0a1b2c3d.local 40404 typ host\r\n',
          line,
        ].join(''),
      ),
    ),
  ),
  calls(
    'sdp-more-codecs',
    'Has more codecs than Opus.',
    editOffers((sdp) =>
      sdp
        .replace(/^(m=audio .*)$/m, '$1 0 101')
        .replace(
          /^(a=rtpmap:\d+ opus.*)$/im,
          '$1\r\na=rtpmap:0 PCMU/8000\r\na=rtpmap:101 telephone-event/48000',
        ),
    ),
  ),
  calls('sdp-video-first', 'Has video, and its audio bundled with it.', behindVideo()),
  calls(
    'trickle',
    'Sends its candidates apart.',
    replaceMessages(READY, (message) => {
      const sdp = String(valueAt(message, '/webrtc_offer/sdp'));
      const found = [...sdp.matchAll(CANDIDATE)].map(([, candidate]) => candidate);
      return [
        { ...message, webrtc_offer: { type: 'offer', sdp: sdp.replace(CANDIDATE, '') } },
        ...found.map((candidate) => ({
          type: 'ice_candidate',
          ...idsIn(message),
          candidate: { candidate, sdpMLineIndex: 0 },
        })),
      ];
    }),
  ),
];

/** What of a section is about its media and not about how it is reached. */
const OF_MEDIA = /^a=(rtpmap|fmtp|rtcp-fb|extmap|ssrc|msid|mid).*\r\n/gm;

/** Offers video on the way of the audio; the sandbox behind is told of the audio alone. */
function behindVideo(): VoiceTransformFactory {
  const withVideo = (sdp: string): string => {
    const [session = '', audio = ''] = sdp.split(/^(?=m=)/m);
    const way = audio
      .replace(OF_MEDIA, '')
      .replace(/^m=audio (\d+) (\S+).*$/m, 'm=video $1 $2 120');
    return [
      session.replace('a=group:BUNDLE', 'a=group:BUNDLE video'),
      `${way}a=mid:video\r\na=rtpmap:120 VP8/90000\r\n`,
      audio.replace(CANDIDATE, '').replace(/^m=audio \d+(.*)$/m, 'm=audio 0$1\r\na=bundle-only'),
    ].join('');
  };
  const withoutVideo = (sdp: string): string =>
    sdp.replace(/^m=video [^]*?(?=^m=)/m, '').replace('a=group:BUNDLE video', 'a=group:BUNDLE');
  const inField = (field: string, change: (sdp: string) => string, text: string): string => {
    const message = messageIn(text);
    const sdp = valueAt(message, `/${field}/sdp`);
    if (!message || typeof sdp !== 'string') return text;
    const described = { ...(message[field] as object), sdp: change(sdp) };
    return JSON.stringify({ ...message, [field]: described });
  };
  return handleCalls((ends) => ({
    fromSandbox: (text) => ends.toKit(inField('webrtc_offer', withVideo, text)),
    fromKit: (text) => ends.toSandbox(inField('webrtc_answer', withoutVideo, text)),
  }));
}

/** Numbers what is left of a stream one by one. */
function sparse(isKept: (packet: AudioPacket) => boolean): VoiceTransformFactory {
  return changeMedia(() => {
    let sequence = 60_000;
    return {
      toKit(packet, send) {
        if (isKept(packet)) send(packet, { sequence: sequence++ & 0xffff });
      },
    };
  });
}

const SILENT_BYTES_MAX = 3;

/** What media may be like. */
const sound: Variant[] = [
  calls(
    'no-answers',
    'Does not know how it should be answered.',
    interceptMessages(
      ({ type }) => type === 'webrtc_answer',
      () => {},
    ),
    { clockFactor: 5 },
  ),
  calls(
    'quiet',
    'Sends nothing while it is silent.',
    sparse(({ payload }) => payload.length > SILENT_BYTES_MAX),
  ),
  calls(
    'lossy',
    'Loses a packet in fifty.',
    changeMedia(() => ({
      toKit(packet, send, nth) {
        if (nth % 50 !== 25) send(packet);
      },
    })),
  ),
];

/** Everything about calls that is odd and legal. */
export const voiceVariants: readonly Variant[] = [
  ...upgrades,
  ...messages,
  ...descriptions,
  ...sound,
];
