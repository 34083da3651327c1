/**
 * RTP headers without extensions, which are all that a call of ours has: werift reads and writes them
 * bit by bit, as text, several times a packet, and that is more work than the encryption.
 */
import { RtpHeader } from 'werift';

/** Version 2, and nothing besides the fixed part (RFC 3550, 5.1). */
const PLAIN_FIRST_BYTE = 0x80;
const PLAIN_HEADER_BYTES = 12;

/** As werift reads any header. */
export const readWithWerift: (packet: Buffer) => RtpHeader = RtpHeader.deSerialize.bind(RtpHeader);

/** A header, plain or not. @throws RangeError where the packet is too short to have one. */
export function readHeader(packet: Buffer): RtpHeader {
  const isPlain = packet[0] === PLAIN_FIRST_BYTE && packet.length >= PLAIN_HEADER_BYTES;
  return isPlain ? readPlain(packet) : readWithWerift(packet);
}

// For all of werift: it reads them for itself, on the way to whoever hears the packets.
RtpHeader.deSerialize = readHeader;

function readPlain(packet: Buffer): RtpHeader {
  const header = new RtpHeader();
  const second = packet[1] ?? 0;
  header.marker = second > 127;
  header.payloadType = second & 127;
  header.sequenceNumber = packet.readUInt16BE(2);
  header.timestamp = packet.readUInt32BE(4);
  header.ssrc = packet.readUInt32BE(8);
  header.payloadOffset = PLAIN_HEADER_BYTES;
  return header;
}

/** A header to send with, over and over; it must stay plain. */
export function createPlainHeader(): RtpHeader {
  const header = new RtpHeader({ sequenceNumber: 0, timestamp: 0 });
  header.serialize = () => {
    const bytes = Buffer.allocUnsafe(PLAIN_HEADER_BYTES);
    bytes[0] = PLAIN_FIRST_BYTE;
    bytes[1] = (header.marker ? 128 : 0) | header.payloadType;
    bytes.writeUInt16BE(header.sequenceNumber, 2);
    bytes.writeUInt32BE(header.timestamp, 4);
    bytes.writeUInt32BE(header.ssrc, 8);
    return bytes;
  };
  return header;
}
