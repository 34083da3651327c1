import type { VoiceRequirementId } from '../requirements.ts';
import { toPrintable, type Exchange } from '../../../engine/transcript/reading.ts';
import { isVoice, offerOf } from '../../../engine/transcript/call-messages.ts';
import { checkEach, type Check, type Finding } from '../../../engine/checks/check.ts';
import { isValidCall, explainNoCall, callFinding } from './call-checks.ts';

const ABSENT = 'no such line';

/** The lines of a session description (SDP): its session part and its audio section. */
interface Description {
  session: readonly string[];
  /** The first audio section, or undefined. */
  audio: readonly string[] | undefined;
}

function readDescription(sdp: string): Description {
  const lines = sdp.split(/\r\n|\r|\n/);
  const starts = lines.flatMap((line, at) => (line.startsWith('m=') ? [at] : []));
  const section = (at: number): string[] =>
    lines.slice(at, starts.find((start) => start > at) ?? lines.length);
  const audioAt = starts.find((at) => lines[at]?.startsWith('m=audio '));
  return {
    session: lines.slice(0, starts[0] ?? lines.length),
    audio: audioAt === undefined ? undefined : section(audioAt),
  };
}

/** Returns an attribute of the audio section, or else of the session; undefined if both lack it. */
function readAttribute({ session, audio = [] }: Description, name: string): string | undefined {
  const readFrom = (lines: readonly string[]): string | undefined => {
    const line = lines.find(
      (candidate) => candidate === `a=${name}` || candidate.startsWith(`a=${name}:`),
    );
    return line?.slice(name.length + 3);
  };
  return readFrom(audio) ?? readFrom(session);
}

const hasAttribute = (description: Description, name: string): boolean =>
  readAttribute(description, name) !== undefined;

const partsOf = ({ audio }: Description): readonly string[] => (audio?.[0] ?? '').split(' ');

/** Returns what was expected and received in an offer; undefined if it is valid. */
type Lint = (
  description: Description,
  sdp: string,
) => readonly [expected: string, received: string] | undefined;

const lints: Record<string, Lint> = {
  section: ({ session, audio }) => {
    if (session[0] !== 'v=0') return ['v=0 in the first line', describeValue(session[0])];
    if (!audio) return ['a line m=audio', 'no audio section'];
    // A section that is bundled with another one has no separate port (RFC 8843, 6).
    const isBundled = audio.includes('a=bundle-only');
    const isDisabled = audio[0]?.split(' ')[1] === '0' && !isBundled;
    return isDisabled ? ['a port other than 0', describeValue(audio[0])] : undefined;
  },
  profile: (description) => {
    const [, , profile = ''] = partsOf(description);
    // Older stacks omit UDP/TLS and others accept that: the fingerprint shows that it is DTLS.
    return /^((UDP|TCP)\/D?TLS\/)?RTP\/SAVPF?$/.test(profile)
      ? undefined
      : ['UDP/TLS/RTP/SAVPF', describeValue(profile)];
  },
  fingerprint: (description) => {
    const value = readAttribute(description, 'fingerprint');
    const isValid = /^(sha-(1|224|256|384|512)) ([0-9a-f]{2}:){19,63}[0-9a-f]{2}\s*$/i.test(
      value ?? '',
    );
    return isValid
      ? undefined
      : ['a=fingerprint:sha-256 and the bytes of the fingerprint', describeValue(value)];
  },
  setup: (description) => {
    const value = readAttribute(description, 'setup');
    return /^(actpass|active|passive)$/.test(value ?? '')
      ? undefined
      : ['a=setup:actpass', describeValue(value)];
  },
  actpass: (description) => {
    const value = readAttribute(description, 'setup');
    return value === 'active' || value === 'passive' ? ['actpass', value] : undefined;
  },
  keys: (description) => {
    const [ufrag, pwd] = ['ice-ufrag', 'ice-pwd'].map((name) => readAttribute(description, name));
    if (!/^[\w+/-]{4,256}$/.test(ufrag ?? ''))
      return ['an a=ice-ufrag of at least 4 characters', describeValue(ufrag)];
    if (/^[\w+/-]{22,256}$/.test(pwd ?? '')) return undefined;
    return [
      'an a=ice-pwd of at least 22 characters',
      pwd === undefined ? ABSENT : `${pwd.length} characters`,
    ];
  },
  opus: (description) => {
    const { audio = [] } = description;
    const types = partsOf(description).slice(3);
    const maps = audio.flatMap((line) => /^a=rtpmap:(\d+) (\S+)/.exec(line)?.slice(1, 3) ?? []);
    const isOpus = (at: number): boolean =>
      at % 2 === 1 &&
      /^opus\/48000\/2$/i.test(maps[at] ?? '') &&
      types.includes(maps[at - 1] ?? '');
    if (maps.some((_map, at) => isOpus(at))) return undefined;
    return [
      'a=rtpmap with opus/48000/2',
      maps.filter((_map, at) => at % 2).join(', ') || 'no a=rtpmap',
    ];
  },
  mux: (description) =>
    hasAttribute(description, 'rtcp-mux') ? undefined : ['a=rtcp-mux', ABSENT],
  bundle: ({ session, audio = [] }) => {
    const mid = audio.find((line) => line.startsWith('a=mid:'))?.slice('a=mid:'.length);
    const groups = session.filter((line) => line.startsWith('a=group:BUNDLE'));
    const isNamed = groups.some((line) => line.split(' ').includes(mid ?? ''));
    if (mid !== undefined && isNamed) return undefined;
    return [`a=group:BUNDLE ${mid ?? 'and a=mid'}`, groups[0] ?? ABSENT];
  },
  direction: (description) => {
    const other = ['sendonly', 'recvonly', 'inactive'].find((name) =>
      hasAttribute(description, name),
    );
    const own = ['sendrecv', 'sendonly', 'recvonly', 'inactive'].find((name) =>
      description.audio?.includes(`a=${name}`),
    );
    const direction = own ?? other ?? 'sendrecv';
    return direction === 'sendrecv' ? undefined : ['a=sendrecv', `a=${direction}`];
  },
  candidates: (_description, sdp) =>
    /^a=candidate:/m.test(sdp) ? undefined : ['a=candidate', ABSENT],
  ends: (_description, sdp) => {
    if (/(?<!\r)\n/.test(sdp)) return ['CRLF', 'LF'];
    return sdp.endsWith('\r\n') ? undefined : ['CRLF after the last line', ABSENT];
  },
};

const describeValue = (value: string | undefined): string =>
  value === undefined ? ABSENT : toPrintable(value, 60) || '""';

/** Checks one property of every offer. Without an audio section, only `section` fails. */
const checkOffer = (name: string): Check =>
  checkEach(
    (exchange) => {
      const sdp = offerOf(exchange);
      if (!isVoice(exchange) || !isValidCall(exchange) || sdp === undefined) return false;
      return name === 'section' || lints['section']?.(readDescription(sdp), sdp) === undefined;
    },
    (exchange) => findingsOf(exchange, name),
    explainNoCall,
  );

function findingsOf(exchange: Exchange, name: string): Finding[] {
  const sdp = offerOf(exchange) ?? '';
  const problem = lints[name]?.(readDescription(sdp), sdp);
  if (!problem) return [];
  return [{ ...callFinding(exchange, ...problem), pointer: '/webrtc_offer/sdp' }];
}

const REQUIRED = ['section', 'profile', 'fingerprint', 'setup', 'keys', 'opus'];

/** Returns whether an offer lacks a part that every WebRTC stack needs. */
export function isUnusableOffer(exchange: Exchange): boolean {
  return (
    offerOf(exchange) === undefined ||
    REQUIRED.some((name) => findingsOf(exchange, name).length > 0)
  );
}

/** The checks for the SDP offer, by requirement (spec 4.9; RFC 8829, 8839, 8842, 7587). */
export const offerChecks = {
  'VOICE-050': checkOffer('section'),
  'VOICE-051': checkOffer('profile'),
  'VOICE-052': checkOffer('fingerprint'),
  'VOICE-053': checkOffer('setup'),
  'VOICE-054': checkOffer('actpass'),
  'VOICE-055': checkOffer('keys'),
  'VOICE-056': checkOffer('opus'),
  'VOICE-057': checkOffer('mux'),
  'VOICE-058': checkOffer('bundle'),
  'VOICE-059': checkOffer('direction'),
  'VOICE-062': checkOffer('candidates'),
  'VOICE-063': checkOffer('ends'),
} satisfies Partial<Record<VoiceRequirementId, Check>>;
