import type { voiceRequirements } from '../requirements.ts';
import { toPrintable, type Exchange } from '../../../engine/transcript/reading.ts';
import { isVoice, offerOf } from '../../../engine/transcript/call-messages.ts';
import { checkEach, type Check, type Finding } from '../../../engine/checks/check.ts';
import { isValidCall, explainNoCall, callFinding } from './call-checks.ts';

/** A session description, cut into what is before its sections and the section of its audio. */
interface Description {
  session: readonly string[];
  /** The first section of audio; undefined where there is none. */
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

/** The value of an attribute of the audio, or of the whole where the section has none. */
function attribute({ session, audio = [] }: Description, name: string): string | undefined {
  const of = (lines: readonly string[]): string | undefined => {
    const line = lines.find((one) => one === `a=${name}` || one.startsWith(`a=${name}:`));
    return line?.slice(name.length + 3);
  };
  return of(audio) ?? of(session);
}

const hasAttribute = (description: Description, name: string): boolean =>
  attribute(description, name) !== undefined;

const partsOf = ({ audio }: Description): readonly string[] => (audio?.[0] ?? '').split(' ');

/** What is wrong with an offer: what was expected and what stands there; undefined where nothing is. */
type Lint = (description: Description, sdp: string) => readonly [string, string] | undefined;

const lines: Record<string, Lint> = {
  section: ({ session, audio }) => {
    if (session[0] !== 'v=0') return ['v=0 in its first line', shown(session[0])];
    if (!audio) return ['a line m=audio', 'none'];
    // Bundled with another section, it has no port of its own (RFC 8843, 6).
    const isBundled = audio.includes('a=bundle-only');
    const isOff = audio[0]?.split(' ')[1] === '0' && !isBundled;
    return isOff ? ['a port other than 0', shown(audio[0])] : undefined;
  },
  profile: (description) => {
    const [, , profile = ''] = partsOf(description);
    // Older stacks leave UDP/TLS out, and others bear with it: the fingerprint says that it is DTLS.
    return /^((UDP|TCP)\/D?TLS\/)?RTP\/SAVPF?$/.test(profile)
      ? undefined
      : ['UDP/TLS/RTP/SAVPF', shown(profile)];
  },
  fingerprint: (description) => {
    const value = attribute(description, 'fingerprint');
    const isOne = /^(sha-(1|224|256|384|512)) ([0-9a-f]{2}:){19,63}[0-9a-f]{2}\s*$/i.test(
      value ?? '',
    );
    return isOne ? undefined : ['a=fingerprint:sha-256 and its bytes', shown(value)];
  },
  setup: (description) => {
    const value = attribute(description, 'setup');
    return /^(actpass|active|passive)$/.test(value ?? '')
      ? undefined
      : ['a=setup:actpass', shown(value)];
  },
  actpass: (description) => {
    const value = attribute(description, 'setup');
    return value === 'active' || value === 'passive' ? ['actpass', value] : undefined;
  },
  keys: (description) => {
    const [ufrag, pwd] = ['ice-ufrag', 'ice-pwd'].map((name) => attribute(description, name));
    if (!/^[\w+/-]{4,256}$/.test(ufrag ?? '')) return ['a=ice-ufrag of 4 characters', shown(ufrag)];
    if (/^[\w+/-]{22,256}$/.test(pwd ?? '')) return undefined;
    return ['a=ice-pwd of 22 characters', pwd === undefined ? 'nothing' : `${pwd.length} of them`];
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
    return ['a=rtpmap with opus/48000/2', maps.filter((_map, at) => at % 2).join(', ') || 'none'];
  },
  mux: (description) =>
    hasAttribute(description, 'rtcp-mux') ? undefined : ['a=rtcp-mux', 'nothing'],
  bundle: ({ session, audio = [] }) => {
    const mid = audio.find((line) => line.startsWith('a=mid:'))?.slice('a=mid:'.length);
    const groups = session.filter((line) => line.startsWith('a=group:BUNDLE'));
    const isNamed = groups.some((line) => line.split(' ').includes(mid ?? ''));
    if (mid !== undefined && isNamed) return undefined;
    return [`a=group:BUNDLE ${mid ?? 'and a=mid'}`, groups[0] ?? 'nothing'];
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
    /^a=candidate:/m.test(sdp) ? undefined : ['a=candidate', 'nothing'],
  ends: (_description, sdp) => {
    if (/(?<!\r)\n/.test(sdp)) return ['CRLF', 'LF'];
    return sdp.endsWith('\r\n') ? undefined : ['CRLF after the last line', 'nothing'];
  },
};

const shown = (value: string | undefined): string =>
  value === undefined ? 'nothing' : toPrintable(value, 60) || '""';

/** Where an offer lacks its audio, the rest is not to be found either: that is told once. */
const lint = (name: string): Check =>
  checkEach(
    (one) => {
      const sdp = offerOf(one);
      if (!isVoice(one) || !isValidCall(one) || sdp === undefined) return false;
      return name === 'section' || lines['section']?.(readDescription(sdp), sdp) === undefined;
    },
    (one) => findingsOf(one, name),
    explainNoCall,
  );

function findingsOf(one: Exchange, name: string): Finding[] {
  const sdp = offerOf(one) ?? '';
  const found = lines[name]?.(readDescription(sdp), sdp);
  if (!found) return [];
  return [{ ...callFinding(one, ...found), pointer: '/webrtc_offer/sdp' }];
}

const NEEDED = ['section', 'profile', 'fingerprint', 'setup', 'keys', 'opus'];

/** Whether an offer lacks what nobody can take it without. */
export function isUnusableOffer(one: Exchange): boolean {
  return offerOf(one) === undefined || NEEDED.some((name) => findingsOf(one, name).length > 0);
}

/** The checks of the offer, line by line (spec 4.9; RFC 8829, 8839, 8842, 7587). */
export const offerChecks = {
  'VOICE-050': lint('section'),
  'VOICE-051': lint('profile'),
  'VOICE-052': lint('fingerprint'),
  'VOICE-053': lint('setup'),
  'VOICE-054': lint('actpass'),
  'VOICE-055': lint('keys'),
  'VOICE-056': lint('opus'),
  'VOICE-057': lint('mux'),
  'VOICE-058': lint('bundle'),
  'VOICE-059': lint('direction'),
  'VOICE-062': lint('candidates'),
  'VOICE-063': lint('ends'),
} satisfies Partial<Record<keyof typeof voiceRequirements, Check>>;
