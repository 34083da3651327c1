import { parseMessage, type CallMessage } from '../../../src/voice/call/index.ts';
import { resolvePointer } from '../../../src/contract/index.ts';
import type { AudioPacket } from '../../../src/voice/peer/index.ts';
import { drop, passThrough, set } from '../../engine/mutants/combinators.ts';
import { createVariantFactory, type Variant } from '../../engine/mutants/mutant.ts';
import {
  interceptMessages,
  answerSecondStart,
  editMessages,
  isStart,
  changeMedia,
  editOffers,
  handleCalls,
  replaceMessages,
  removeOfferLines,
} from './mutants/combinators.ts';
import type { VoiceTransformFactory } from '../../engine/mutants/mutant.ts';

const variant = createVariantFactory('voice');

/** Creates a variant that changes WebSockets and calls but no HTTP responses. */
const voiceVariant = (
  name: string,
  description: string,
  voice: VoiceTransformFactory,
  more: Partial<Variant> = {},
): Variant => variant(name, description, passThrough, { voice, ...more });

/** Rewrites every sandbox message. */
const rewriteMessages = (
  rewrite: (text: string) => [text: string, isBinary?: boolean],
): VoiceTransformFactory =>
  handleCalls((ends) => ({ fromSandbox: (text) => ends.toKit(...rewrite(text)) }));

const READY = 'call_ready';
const UPDATE = 'conversation_update';

/** Legal responses to the WebSocket request. */
const handshakeVariants: Variant[] = [
  voiceVariant('absent', 'Has no voice endpoint.', refusePaths(404, /./), {
    areas: ['health', 'voice'],
  }),
  voiceVariant(
    'absent-403',
    'Has no voice endpoint and refuses every upgrade with 403.',
    refusePaths(403, /./),
    {
      areas: ['health', 'voice'],
    },
  ),
  voiceVariant('protocol-unnamed', 'Selects no subprotocol.', () => ({
    selectProtocol: () => undefined,
  })),
];

/** Refuses WebSocket requests to the paths that match. */
function refusePaths(status: number, path: RegExp): VoiceTransformFactory {
  return () => ({
    respond: (request) => (path.test(request.path) ? { status, headers: {}, body: '' } : undefined),
  });
}

const LATE_MS = 700;
const CANDIDATE = /^a=(candidate:.*)\r\n/gm;

/** Legal forms and times of messages. */
const messageVariants: Variant[] = [
  voiceVariant(
    'pretty',
    'Indents its messages.',
    rewriteMessages((text) => [JSON.stringify(parseMessage(text), null, 2)]),
  ),
  voiceVariant(
    'binary',
    'Sends its messages in binary frames.',
    rewriteMessages((text) => [text, true]),
  ),
  voiceVariant(
    'more-keys',
    'Sends fields that the interface does not define.',
    editMessages(READY, set('/agent', { name: 'Ada' }), set('/metadata/region', 'eu')),
  ),
  voiceVariant(
    'more-messages',
    'Sends messages that the interface does not define.',
    replaceMessages(READY, (message) => [{ type: 'hello' }, message, { type: 'status', up: true }]),
  ),
  voiceVariant(
    'bare-ready',
    'Omits the optional fields of `call_ready`.',
    editMessages(READY, drop('/metadata'), drop('/evaluation_metadata')),
  ),
  voiceVariant(
    'bare-updates',
    'Omits the optional fields of `conversation_update`.',
    editMessages(UPDATE, drop('/metadata'), drop('/evaluation_metadata')),
  ),
  voiceVariant(
    'own-sessions',
    'Generates a session id for a call without one.',
    replaceMessages(READY, (message) => [
      { session_id: `s-${String(message['call_id'])}`, ...message },
    ]),
  ),
  voiceVariant(
    'two-updates',
    'Sends two updates for each turn.',
    replaceMessages(UPDATE, (message) => [message, message]),
  ),
  voiceVariant(
    'updates-at-once',
    'Starts the call with an update about its greeting.',
    replaceMessages(READY, (message) => [
      message,
      { type: UPDATE, ...idsIn(message), transcript: { user: '', agent: 'Hello!' } },
    ]),
  ),
  voiceVariant(
    'ready-late',
    'Sends `call_ready` 700 ms late.',
    replaceMessages(READY, (message, ends) => {
      void ends.clock.sleep(LATE_MS).then(() => ends.toKit(JSON.stringify(message)));
      return [];
    }),
  ),
  voiceVariant(
    'errors-without-details',
    'Omits `error.details`.',
    editMessages('error', drop('/error/details')),
  ),
  voiceVariant(
    'closes-unknown',
    'Closes the WebSocket after an unknown message.',
    interceptMessages(
      ({ type }) => type !== 'start_call' && type !== 'webrtc_answer',
      (ends) => {
        ends.closeKit(1003);
        ends.closeSandbox();
      },
    ),
  ),
  voiceVariant(
    'closes-without-code',
    'Closes the WebSocket without a code after an error.',
    handleCalls((ends) => ({
      onSandboxClose: () => ends.closeKit(1005),
    })),
  ),
  voiceVariant('restarts', 'Ignores a second `start_call`.', ignoreRepeated(isStart)),
  voiceVariant(
    'answers-both',
    'Responds to a second `start_call` in its own way.',
    answerSecondStart(),
  ),
];

/** Ignores messages of the kit after the first one that matches. */
function ignoreRepeated(matches: (message: CallMessage) => boolean): VoiceTransformFactory {
  return handleCalls((ends) => {
    let hasMatched = false;
    return {
      fromKit(text) {
        const isMatch = matches(parseMessage(text) ?? {});
        if (!isMatch || !hasMatched) ends.toSandbox(text);
        hasMatched ||= isMatch;
      },
    };
  });
}

const idsIn = (message: CallMessage): object =>
  Object.fromEntries(
    ['call_id', 'session_id'].flatMap((key) => (key in message ? [[key, message[key]]] : [])),
  );

/** Legal forms of the SDP offer. */
const offerVariants: Variant[] = [
  voiceVariant(
    'sdp-lf',
    'Ends the lines of the offer with LF.',
    editOffers((sdp) => sdp.replaceAll('\r\n', '\n')),
  ),
  voiceVariant(
    'sdp-trimmed',
    'Omits the line ending of the last line.',
    editOffers((sdp) => sdp.trimEnd()),
  ),
  voiceVariant('sdp-no-ssrc', 'Omits `a=ssrc` and `a=msid`.', removeOfferLines(/a=(ssrc|msid)/)),
  voiceVariant(
    'sdp-capitals',
    'Writes the codec name as `OPUS`.',
    editOffers((sdp) => sdp.replace(/opus\/48000/i, 'OPUS/48000')),
  ),
  voiceVariant(
    'sdp-more-candidates',
    'Offers TCP, IPv6, and mDNS candidates, too.',
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
  voiceVariant(
    'sdp-more-codecs',
    'Offers other codecs besides Opus.',
    editOffers((sdp) =>
      sdp
        .replace(/^(m=audio .*)$/m, '$1 0 101')
        .replace(
          /^(a=rtpmap:\d+ opus.*)$/im,
          '$1\r\na=rtpmap:0 PCMU/8000\r\na=rtpmap:101 telephone-event/48000',
        ),
    ),
  ),
  voiceVariant(
    'sdp-video-first',
    'Offers video first and bundles the audio with it.',
    offerVideoFirst(),
  ),
  voiceVariant(
    'trickle',
    'Sends its candidates in separate messages.',
    replaceMessages(READY, (message) => {
      const sdp = String(resolvePointer(message, '/webrtc_offer/sdp'));
      const candidates = [...sdp.matchAll(CANDIDATE)].map(([, candidate]) => candidate);
      return [
        { ...message, webrtc_offer: { type: 'offer', sdp: sdp.replace(CANDIDATE, '') } },
        ...candidates.map((candidate) => ({
          type: 'ice_candidate',
          ...idsIn(message),
          candidate: { candidate, sdpMLineIndex: 0 },
        })),
      ];
    }),
  ),
];

/** The lines of a section that describe its media and not its network path. */
const MEDIA_LINES = /^a=(rtpmap|fmtp|rtcp-fb|extmap|ssrc|msid|mid).*\r\n/gm;

/** Adds a video section that shares the network path of the audio; hides it from the upstream sandbox. */
function offerVideoFirst(): VoiceTransformFactory {
  const addVideo = (sdp: string): string => {
    const [session = '', audio = ''] = sdp.split(/^(?=m=)/m);
    const video = audio
      .replace(MEDIA_LINES, '')
      .replace(/^m=audio (\d+) (\S+).*$/m, 'm=video $1 $2 120');
    return [
      session.replace('a=group:BUNDLE', 'a=group:BUNDLE video'),
      `${video}a=mid:video\r\na=rtpmap:120 VP8/90000\r\n`,
      audio.replace(CANDIDATE, '').replace(/^m=audio \d+(.*)$/m, 'm=audio 0$1\r\na=bundle-only'),
    ].join('');
  };
  const removeVideo = (sdp: string): string =>
    sdp.replace(/^m=video [^]*?(?=^m=)/m, '').replace('a=group:BUNDLE video', 'a=group:BUNDLE');
  const changeSdp = (field: string, change: (sdp: string) => string, text: string): string => {
    const message = parseMessage(text);
    const sdp = resolvePointer(message, `/${field}/sdp`);
    if (!message || typeof sdp !== 'string') return text;
    const description = { ...(message[field] as object), sdp: change(sdp) };
    return JSON.stringify({ ...message, [field]: description });
  };
  return handleCalls((ends) => ({
    fromSandbox: (text) => ends.toKit(changeSdp('webrtc_offer', addVideo, text)),
    fromKit: (text) => ends.toSandbox(changeSdp('webrtc_answer', removeVideo, text)),
  }));
}

/** Drops packets and renumbers the rest without gaps. */
function dropPackets(isKept: (packet: AudioPacket) => boolean): VoiceTransformFactory {
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

/** Legal forms of media. */
const mediaVariants: Variant[] = [
  voiceVariant(
    'no-answers',
    'Does not know the message that answers an offer.',
    interceptMessages(
      ({ type }) => type === 'webrtc_answer',
      () => {},
    ),
    { clockFactor: 5 },
  ),
  ...(
    [
      ['unknown-answer', 'an own error code', 'unknown_message', false],
      ['unknown-answer-closes', 'an own error code, and closes the WebSocket', 'bad_request', true],
      ['unknown-answer-connection', 'connection_failed', 'connection_failed', false],
      ['unknown-answer-audio', 'audio_error, and closes the WebSocket', 'audio_error', true],
    ] as const
  ).map(([name, how, code, closes]) =>
    voiceVariant(
      name,
      `Responds to messages that the interface does not define with ${how}.`,
      interceptMessages(
        ({ type }) => type !== 'start_call',
        (ends) => {
          const error = { code, message: 'Unknown message type.', details: 'Known: start_call.' };
          ends.toKit(JSON.stringify({ type: 'error', error }));
          if (closes) ends.closeKit(1003);
          if (closes) ends.closeSandbox();
        },
      ),
      { clockFactor: 5 },
    ),
  ),
  voiceVariant(
    'quiet',
    'Sends no packets while it is silent.',
    dropPackets(({ payload }) => payload.length > SILENT_BYTES_MAX),
  ),
  voiceVariant(
    'lossy',
    'Loses every fiftieth packet.',
    changeMedia(() => ({
      toKit(packet, send, nth) {
        if (nth % 50 !== 25) send(packet);
      },
    })),
  ),
];

/** Unusual but legal behavior of voice. */
export const voiceVariants: readonly Variant[] = [
  ...handshakeVariants,
  ...messageVariants,
  ...offerVariants,
  ...mediaVariants,
];
