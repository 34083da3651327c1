/** Headers of RTP packets, which are parsed before a packet is authenticated. */
import t from 'tap';
import { RtpHeader } from 'werift';

/** Returns a packet with a header extension of one word that announces so many words. */
const makePacket = (profile: number, words: number): Buffer => {
  const packet = Buffer.alloc(24);
  packet.set([0x90, 111, 0, 1]);
  packet.writeUInt16BE(profile, 12);
  packet.writeUInt16BE(words, 14);
  packet.set([0x10, 0x01], 16);
  return packet;
};

const profiles = { 'one byte': 0xbede, 'two bytes': 0x1000, other: 0x1234 };

void t.test('a header extension that is longer than its packet is refused', (t) => {
  for (const [name, profile] of Object.entries(profiles)) {
    t.throws(() => RtpHeader.deSerialize(makePacket(profile, 3)), /exceeds/, name);
    t.equal(RtpHeader.deSerialize(makePacket(profile, 2)).payloadOffset, 24, name);
    t.equal(RtpHeader.deSerialize(makePacket(profile, 1)).payloadOffset, 20, name);
  }
  t.end();
});

void t.test('the payload begins after an extension whose elements end early', (t) => {
  const packet = makePacket(profiles['one byte'], 2);
  packet[16] = 0xf0;
  t.equal(RtpHeader.deSerialize(packet).payloadOffset, 24);
  t.end();
});
