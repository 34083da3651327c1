/** What a description of the other side may have at most. */
import t from 'tap';
import {
  filterCandidates,
  findExcess,
  readCandidateAddress,
} from '../../../src/voice/peer/sdp-lines.ts';

const CANDIDATE = 'a=candidate:1 1 udp 1 127.0.0.1 9 typ host';

/** Returns a description with so many of a line. */
const repeat = (line: string, times: number): string => `v=0\r\n${`${line}\r\n`.repeat(times)}`;

void t.test('a description within the limits has no excess', (t) => {
  const section = 'm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=rtpmap:111 opus/48000/2';
  t.equal(findExcess(''), undefined);
  t.equal(findExcess(repeat(section, 16)), undefined);
  t.equal(findExcess(repeat(CANDIDATE, 64)), undefined);
  t.equal(findExcess(repeat('a=ssrc:1 cname:x', 1_900)), undefined);
  t.end();
});

const rows = [
  [
    'too long',
    repeat('a=x', 1).padEnd(100_001, 'x'),
    '100001 characters, more than 100000, the limit of sandbox-kit',
  ],
  ['with too many lines', repeat('a=x', 3_000), /^300[0-9] lines, more than 2000, /],
  [
    'with too many media sections',
    repeat('m=audio 9 X 0', 17),
    /^17 media sections, more than 16, /,
  ],
  ['with too many candidates', repeat(CANDIDATE, 65), /^65 candidates, more than 64, /],
  [
    'with candidates after carriage returns only',
    `v=0\r${`${CANDIDATE}\r`.repeat(65)}`,
    /^65 candidates, /,
  ],
] as const;

for (const [name, description, excess] of rows) {
  void t.test(`a description ${name} says so`, (t) => {
    t.match(findExcess(description), excess);
    t.end();
  });
}

void t.test('a candidate with a line break has no address, so it adds no lines', (t) => {
  t.equal(readCandidateAddress(CANDIDATE), '127.0.0.1');
  for (const lineBreak of ['\r\n', '\n', '\r']) {
    t.equal(readCandidateAddress(`${CANDIDATE}${lineBreak}m=video 9 X 0`), undefined);
  }
  const hidden = `v=0\r\n${CANDIDATE}\rm=video 9 X 0\r\n`;
  const accepts = (line: string): boolean => readCandidateAddress(line) !== undefined;
  t.notMatch(filterCandidates(hidden, accepts), /m=video/);
  t.end();
});
