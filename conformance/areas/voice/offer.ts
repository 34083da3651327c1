/** The SDP offer of `call_ready` (spec 4.9; RFC 8829, 8839, 8842, 7587). */
import { resolvePointer } from '../../../src/contract/index.ts';
import { parseMessage } from '../../../src/voice/call/messages.ts';
import { type Check, checkEach } from '../../engine/checks/check.ts';
import type { VoiceTransformFactory } from '../../engine/mutants/mutant.ts';
import { type DistortionEntry, type Subject, withDefaults } from '../../engine/requirement.ts';
import { offerOf } from '../../engine/transcript/call-messages.ts';
import { toPrintable, type Exchange } from '../../engine/transcript/reading.ts';
import { unlessAbsent } from './absence.ts';
import {
  distortCalls,
  editOffers,
  handleCalls,
  idsIn,
  removeOfferLines,
  replaceInOffers,
  replaceMessages,
} from './call-transforms.ts';
import { callFinding, explainNoCall, isValidCall, type Problem } from './evidence.ts';
import {
  mediaPartsOf,
  readAttribute,
  readDescription,
  type SessionDescription,
} from './session-description.ts';

/** What breaks without the offer. */
export const OFFER_REASON = "Without it, the service can't connect to the audio of the call.";

const ABSENT = 'no such line';
const CANDIDATE = /^a=(candidate:.*)\r\n/gm;

const describeValue = (value: string | undefined): string =>
  value === undefined ? ABSENT : toPrintable(value, 60) || '""';

const has = (description: SessionDescription, name: string): boolean =>
  readAttribute(description, name) !== undefined;

const omits = (description: string, lines: RegExp): DistortionEntry =>
  distortCalls(description, removeOfferLines(lines));

const replaces = (description: string, pattern: RegExp, replacement: string): DistortionEntry =>
  distortCalls(description, replaceInOffers(pattern, replacement));

const edits = (description: string, edit: (sdp: string) => string): DistortionEntry =>
  distortCalls(description, editOffers(edit));

const defaults = {
  section: '4.9',
  probes: ['voice/forms'],
  wrapCheck: unlessAbsent,
} as const;

export const offer: Subject = {
  requirements: withDefaults(defaults, {
    'VOICE-050': {
      rule: 'The SDP offer has an audio section that is not disabled by port 0.',
      statements: ['4.9.5', '6.14'],
      reason: OFFER_REASON,
      check: checkOffer(lintSection),
      mutants: {
        'sdp-nonsense': edits('Sends an offer that is not SDP.', () => 'call me'),
        'sdp-video': replaces('Offers only video.', /^m=audio/m, 'm=video'),
        'sdp-port-0': replaces(
          'Disables the audio section with port 0.',
          /^m=audio \d+/m,
          'm=audio 0',
        ),
      },
      legal: {
        'sdp-video-first': distortCalls(
          'Offers video first and bundles the audio with it.',
          offerVideoFirst(),
        ),
      },
    },
    'VOICE-051': {
      rule: 'The audio section of the offer uses DTLS-SRTP (`UDP/TLS/RTP/SAVPF`).',
      statements: ['4.9.5'],
      reason:
        "WebRTC requires media to be encrypted with DTLS-SRTP; the service can't connect with another profile.",
      check: checkOffer(lintProfile),
      mutants: {
        'sdp-plain': replaces('Offers unencrypted audio.', /UDP\/TLS\/RTP\/SAVPF/, 'RTP/AVP'),
      },
    },
    'VOICE-052': {
      rule: 'The offer has the fingerprint of the DTLS certificate.',
      statements: ['4.9.5'],
      reason:
        "Without it, the service can't verify who it shares encryption keys with, so it doesn't connect.",
      check: checkOffer(lintFingerprint),
      mutants: { 'sdp-no-fingerprint': omits('Omits the fingerprint.', /a=fingerprint/) },
    },
    'VOICE-053': {
      rule: '`a=setup` of the offer states which side starts the DTLS handshake.',
      statements: ['4.9.5'],
      reason: 'Without it, both sides may wait for the other one to start.',
      check: checkOffer(lintSetup),
      mutants: {
        'sdp-no-setup': omits('Omits `a=setup`.', /a=setup/),
        'sdp-holdconn': replaces('Sends `a=setup:holdconn`.', /^a=setup:.*$/m, 'a=setup:holdconn'),
      },
    },
    'VOICE-054': {
      level: 'should',
      rule: '`a=setup` of the offer is `actpass`.',
      statements: ['4.9.5'],
      reason: 'WebRTC lets the answering side choose; some WebRTC stacks refuse any other value.',
      check: checkOffer((description) => {
        const value = readAttribute(description, 'setup');
        return value === 'active' || value === 'passive' ? ['actpass', value] : undefined;
      }),
      mutants: {
        'sdp-active': replaces('Sends `a=setup:active`.', /^a=setup:.*$/m, 'a=setup:active'),
      },
    },
    'VOICE-055': {
      rule: 'The offer has an `ice-ufrag` of at least 4 characters and an `ice-pwd` of at least 22 characters.',
      statements: ['4.9.5'],
      reason:
        'ICE authenticates its connectivity checks with them; without them, no network path is found.',
      check: checkOffer(lintKeys),
      mutants: {
        'sdp-no-ufrag': omits('Omits `ice-ufrag`.', /a=ice-ufrag/),
        'sdp-no-pwd': omits('Omits `ice-pwd`.', /a=ice-pwd/),
      },
    },
    'VOICE-056': {
      section: '2.11',
      rule: 'The offer lists Opus as `opus/48000/2` when the call requests Opus.',
      statements: ['2.11.3', '2.11.5', '6.8', '6.9'],
      reason:
        "This is the name of Opus at every sampling rate; a WebRTC stack doesn't recognize another name.",
      check: checkOffer(lintOpus),
      mutants: {
        'sdp-one-channel': replaces(
          'Lists Opus with one channel.',
          /opus\/48000\/2/gi,
          'opus/48000',
        ),
        'sdp-opus-16000': replaces(
          'Lists Opus with one channel and its sampling rate.',
          /opus\/48000\/2/gi,
          'opus/16000/1',
        ),
        'sdp-opus-16000-2': distortCalls(
          'Lists Opus with its sampling rate but sends normal Opus.',
          handleCalls((ends) => ({
            fromSandbox: (text) => ends.toKit(text.replace(/opus\/48000\/2/gi, 'opus/16000/2')),
            fromKit: (text) => ends.toSandbox(text.replace(/opus\/16000\/2/gi, 'opus/48000/2')),
          })),
        ),
        'sdp-pcmu': edits('Offers only G.711.', offerPcmu),
      },
      legal: {
        'sdp-capitals': edits('Writes the codec name as `OPUS`.', (sdp) =>
          sdp.replace(/opus\/48000/i, 'OPUS/48000'),
        ),
        'sdp-more-codecs': edits('Offers other codecs besides Opus.', (sdp) =>
          sdp
            .replace(/^(m=audio .*)$/m, '$1 0 101')
            .replace(
              /^(a=rtpmap:\d+ opus.*)$/im,
              '$1\r\na=rtpmap:0 PCMU/8000\r\na=rtpmap:101 telephone-event/48000',
            ),
        ),
      },
    },
    'VOICE-057': {
      level: 'should',
      rule: 'The offer has `a=rtcp-mux`.',
      statements: ['4.9.5'],
      reason:
        'WebRTC uses one port for RTP and RTCP; some WebRTC stacks refuse an offer without it.',
      check: checkOffer((description) =>
        has(description, 'rtcp-mux') ? undefined : ['a=rtcp-mux', ABSENT],
      ),
      mutants: { 'sdp-no-mux': omits('Omits `a=rtcp-mux`.', /a=rtcp-mux/) },
    },
    'VOICE-058': {
      level: 'should',
      rule: '`a=group:BUNDLE` of the offer lists the `mid` of the audio section.',
      statements: ['4.9.5'],
      reason: 'Some WebRTC stacks refuse an offer without it.',
      check: checkOffer(({ session, audio = [] }) => {
        const mid = audio.find((line) => line.startsWith('a=mid:'))?.slice('a=mid:'.length);
        const groups = session.filter((line) => line.startsWith('a=group:BUNDLE'));
        const isNamed = groups.some((line) => line.split(' ').includes(mid ?? ''));
        if (mid !== undefined && isNamed) return undefined;
        return [`a=group:BUNDLE ${mid ?? 'and a=mid'}`, groups[0] ?? ABSENT];
      }),
      mutants: {
        'sdp-no-bundle': omits('Omits `a=group:BUNDLE`.', /a=group:BUNDLE/),
        'sdp-other-bundle': replaces(
          'Bundles a section that does not exist.',
          /^a=group:BUNDLE.*$/m,
          'a=group:BUNDLE video',
        ),
      },
    },
    'VOICE-059': {
      rule: 'The audio section of the offer is `sendrecv`.',
      statements: ['4.9.5'],
      reason: 'The simulated user and the agent must hear each other.',
      check: checkOffer((description) => {
        const other = ['sendonly', 'recvonly', 'inactive'].find((name) => has(description, name));
        const own = ['sendrecv', 'sendonly', 'recvonly', 'inactive'].find((name) =>
          description.audio?.includes(`a=${name}`),
        );
        const direction = own ?? other ?? 'sendrecv';
        return direction === 'sendrecv' ? undefined : ['a=sendrecv', `a=${direction}`];
      }),
      mutants: {
        'sdp-sendonly': replaces('Offers `sendonly` audio.', /^a=sendrecv/m, 'a=sendonly'),
        'sdp-recvonly': replaces('Offers `recvonly` audio.', /^a=sendrecv/m, 'a=recvonly'),
      },
    },
    'VOICE-062': {
      level: 'may',
      rule: 'The offer contains the ICE candidates.',
      statements: ['6.14'],
      reason:
        'The interface defines no message for separate candidates, so a service may not know how to receive them.',
      check: checkOffer((_description, sdp) =>
        /^a=candidate:/m.test(sdp) ? undefined : ['a=candidate', ABSENT],
      ),
      legal: {
        'sdp-more-candidates': edits('Offers TCP, IPv6, and mDNS candidates, too.', addCandidates),
        trickle: distortCalls('Sends its candidates in separate messages.', sendCandidates()),
      },
    },
    'VOICE-063': {
      level: 'may',
      section: '6',
      rule: 'Every line of the offer ends with CRLF, including the last one.',
      statements: ['6.14'],
      reason: 'Some WebRTC stacks refuse other line endings, above all on the last line.',
      check: checkOffer((_description, sdp) => {
        if (/(?<!\r)\n/.test(sdp)) return ['CRLF', 'LF'];
        return sdp.endsWith('\r\n') ? undefined : ['CRLF after the last line', ABSENT];
      }),
      legal: {
        'sdp-lf': edits('Ends the lines of the offer with LF.', (sdp) =>
          sdp.replaceAll('\r\n', '\n'),
        ),
        'sdp-trimmed': edits('Omits the line ending of the last line.', (sdp) => sdp.trimEnd()),
      },
    },
  }),
  legal: { 'sdp-no-ssrc': omits('Omits `a=ssrc` and `a=msid`.', /a=(ssrc|msid)/) },
};

/** Finds one problem in an offer. */
type Lint = (description: SessionDescription, sdp: string) => Problem | undefined;

function lintSection({ session, audio }: SessionDescription): Problem | undefined {
  if (session[0] !== 'v=0') return ['v=0 in the first line', describeValue(session[0])];
  if (!audio) return ['a line m=audio', 'no audio section'];
  // A section that is bundled with another one has no separate port (RFC 8843, 6).
  const isBundled = audio.includes('a=bundle-only');
  const isDisabled = audio[0]?.split(' ')[1] === '0' && !isBundled;
  return isDisabled ? ['a port other than 0', describeValue(audio[0])] : undefined;
}

function lintProfile(description: SessionDescription): Problem | undefined {
  const [, , profile = ''] = mediaPartsOf(description);
  // Older stacks omit UDP/TLS and others accept that: the fingerprint shows that it is DTLS.
  const isValid = /^((UDP|TCP)\/D?TLS\/)?RTP\/SAVPF?$/.test(profile);
  return isValid ? undefined : ['UDP/TLS/RTP/SAVPF', describeValue(profile)];
}

function lintFingerprint(description: SessionDescription): Problem | undefined {
  const value = readAttribute(description, 'fingerprint');
  const isValid = /^(sha-(1|224|256|384|512)) ([0-9a-f]{2}:){19,63}[0-9a-f]{2}\s*$/i.test(
    value ?? '',
  );
  if (isValid) return undefined;
  return ['a=fingerprint:sha-256 and the bytes of the fingerprint', describeValue(value)];
}

function lintSetup(description: SessionDescription): Problem | undefined {
  const value = readAttribute(description, 'setup');
  const isValid = /^(actpass|active|passive)$/.test(value ?? '');
  return isValid ? undefined : ['a=setup:actpass', describeValue(value)];
}

function lintKeys(description: SessionDescription): Problem | undefined {
  const [ufrag, pwd] = ['ice-ufrag', 'ice-pwd'].map((name) => readAttribute(description, name));
  if (!/^[\w+/-]{4,256}$/.test(ufrag ?? ''))
    return ['an a=ice-ufrag of at least 4 characters', describeValue(ufrag)];
  if (/^[\w+/-]{22,256}$/.test(pwd ?? '')) return undefined;
  return [
    'an a=ice-pwd of at least 22 characters',
    pwd === undefined ? ABSENT : `${pwd.length} characters`,
  ];
}

function lintOpus(description: SessionDescription): Problem | undefined {
  const { audio = [] } = description;
  const types = mediaPartsOf(description).slice(3);
  const codecs = audio.flatMap((line) => {
    const [, type = '', name = ''] = /^a=rtpmap:(\d+) (\S+)/.exec(line) ?? [];
    return name === '' ? [] : [{ type, name }];
  });
  const isOpus = codecs.some(
    ({ type, name }) => /^opus\/48000\/2$/i.test(name) && types.includes(type),
  );
  if (isOpus) return undefined;
  const names = codecs.map(({ name }) => name).join(', ');
  return ['a=rtpmap with opus/48000/2', names || 'no a=rtpmap'];
}

function findProblem(exchange: Exchange, lint: Lint): Problem | undefined {
  const sdp = offerOf(exchange) ?? '';
  return lint(readDescription(sdp), sdp);
}

/** Returns whether an offer lacks a part that every WebRTC stack needs. */
export function isUnusableOffer(exchange: Exchange): boolean {
  const needed = [lintSection, lintProfile, lintFingerprint, lintSetup, lintKeys, lintOpus];
  return offerOf(exchange) === undefined || needed.some((lint) => findProblem(exchange, lint));
}

/** Checks one property of every offer. Without an audio section, only the check of that fails. */
function checkOffer(lint: Lint): Check {
  return checkEach(
    (exchange) =>
      isValidCall(exchange) &&
      offerOf(exchange) !== undefined &&
      (lint === lintSection || !findProblem(exchange, lintSection)),
    (exchange) => {
      const problem = findProblem(exchange, lint);
      if (!problem) return [];
      return [{ ...callFinding(exchange, ...problem), pointer: '/webrtc_offer/sdp' }];
    },
    explainNoCall,
  );
}

function offerPcmu(sdp: string): string {
  const [, type = ''] = /^a=rtpmap:(\d+) opus/im.exec(sdp) ?? [];
  return sdp
    .replace(new RegExp(`^(m=audio \\d+ \\S+) ${type}`, 'm'), '$1 0')
    .replace(new RegExp(`^a=rtpmap:${type} .*$`, 'm'), 'a=rtpmap:0 PCMU/8000')
    .replace(new RegExp(`^a=(fmtp|rtcp-fb):${type} .*\\r\\n`, 'gm'), '');
}

function addCandidates(sdp: string): string {
  return sdp.replace(CANDIDATE, (line) =>
    [
      'a=candidate:90 1 tcp 1518280447 127.0.0.1 9 typ host tcptype active\r\n',
      'a=candidate:91 1 udp 2122262783 ::1 40404 typ host\r\n',
      'a=candidate:92 1 udp 2122262783 4c1d2f0e-1b1c-4a0f-9a3c-6a1f0a1b2c3d.local 40404 typ host\r\n',
      line,
    ].join(''),
  );
}

function sendCandidates(): VoiceTransformFactory {
  return replaceMessages('call_ready', (message) => {
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
  });
}

/** Adds a video section that shares the network path of the audio; hides it from the upstream sandbox. */
function offerVideoFirst(): VoiceTransformFactory {
  // The lines of a section that describe its media and not its network path.
  const mediaLines = /^a=(rtpmap|fmtp|rtcp-fb|extmap|ssrc|msid|mid).*\r\n/gm;
  const addVideo = (sdp: string): string => {
    const [session = '', audio = ''] = sdp.split(/^(?=m=)/m);
    const video = audio
      .replace(mediaLines, '')
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
