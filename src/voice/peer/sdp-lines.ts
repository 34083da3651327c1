/**
 * Lines of a session description, and their limits. The functions accept any text, because it is
 * untrusted.
 */

import { isIP } from 'node:net';

const CANDIDATE_LINE = /^a=candidate:/;

/**
 * What a description of the other side may have at most: each media section gets a transport, and
 * packets are sent to each candidate. An offer of a browser with audio and video has a tenth of it.
 */
const CHARACTERS_MAX = 100_000;
const LINES_MAX = 2_000;
const MEDIA_SECTIONS_MAX = 16;
/** Also of those that arrive in separate messages. */
export const CANDIDATES_MAX = 64;

/** Returns how a description exceeds a limit, in words; undefined if it exceeds none. */
export function findExcess(sdp: string): string | undefined {
  const excess = (count: number, max: number, noun: string): string | undefined =>
    count > max ? `${count} ${noun}, more than ${max}, the limit of sandbox-kit` : undefined;
  const tooLong = excess(sdp.length, CHARACTERS_MAX, 'characters');
  if (tooLong !== undefined) return tooLong;
  // Some parsers also end a line at a carriage return alone.
  const lines = sdp.split(/\r\n|[\r\n]/);
  const count = (start: string): number => lines.filter((line) => line.startsWith(start)).length;
  return (
    excess(lines.length, LINES_MAX, 'lines') ??
    excess(count('m='), MEDIA_SECTIONS_MAX, 'media sections') ??
    excess(count('a=candidate:'), CANDIDATES_MAX, 'candidates')
  );
}

/** Returns whether a description contains a usable candidate line. */
export function hasCandidate(sdp: string): boolean {
  return linesOf(sdp).some((line) => CANDIDATE_LINE.test(line));
}

/** Removes the candidates that `accepts` refuses. */
export function filterCandidates(sdp: string, accepts: (candidate: string) => boolean): string {
  const kept = linesOf(sdp).filter((line) => !CANDIDATE_LINE.test(line) || accepts(line));
  // If no candidate is left, more may follow in separate messages.
  const hasAny = kept.some((line) => CANDIDATE_LINE.test(line));
  return kept.filter((line) => hasAny || line !== 'a=end-of-candidates').join('\r\n');
}

/**
 * Sets a port for audio that is bundled with another section (`a=bundle-only`). Port 0 does not
 * mean that it is disabled there (RFC 8843, section 6).
 */
export function reopenBundledAudio(sdp: string): string {
  return sdp
    .split(/^(?=m=)/m)
    .map((section) =>
      /^a=bundle-only\r?$/m.test(section) ? section.replace(/^m=audio 0 /, 'm=audio 9 ') : section,
    )
    .join('');
}

/**
 * Returns the IP address of a candidate; undefined if it has a host name instead. Resolving one
 * takes seconds and sends a query to a DNS server or, with mDNS, to the whole local network.
 * Also undefined if it has a line break, which could add lines to a description.
 */
export function readCandidateAddress(candidate: string): string | undefined {
  if (/[\r\n]/.test(candidate)) return undefined;
  const [, , , , address = ''] = candidate.split(' ');
  return isIP(address) === 0 ? undefined : address;
}

/** Appends candidates to the only media section of a description. */
export function appendCandidates(sdp: string, candidates: readonly string[]): string {
  const lines = candidates.map((candidate) => `a=${candidate.replace(/^a=/, '')}\r\n`);
  return `${sdp.replace(/(?:\r?\n)*$/, '\r\n')}${lines.join('')}`;
}

/** Returns the first line that a description needs for a secure connection and does not have. */
export function findMissingLine(sdp: string): string | undefined {
  const lines = linesOf(sdp);
  return ['m=audio ', 'a=ice-ufrag:', 'a=ice-pwd:', 'a=fingerprint:'].find(
    (start) => !lines.some((line) => line.startsWith(start)),
  );
}

function linesOf(sdp: string): string[] {
  return sdp.split(/\r?\n/);
}
