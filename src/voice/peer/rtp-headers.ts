/**
 * Fast RTP headers without extensions, which is all that calls need. werift parses and writes
 * headers bit by bit, as text, several times per packet, which costs more than the encryption.
 */
import { RtpHeader } from 'werift';

/** Version 2 and only the fixed part (RFC 3550, section 5.1). */
const PLAIN_FIRST_BYTE = 0x80;
const PLAIN_HEADER_BYTES = 12;

/** The parser of werift, for all other headers. */
export const readWithWerift: (packet: Buffer) => RtpHeader = RtpHeader.deSerialize.bind(RtpHeader);

/** Parses an RTP header. @throws RangeError if the packet is too short. */
export function readHeader(packet: Buffer): RtpHeader {
  const isPlain = packet[0] === PLAIN_FIRST_BYTE && packet.length >= PLAIN_HEADER_BYTES;
  return isPlain ? readPlain(packet) : readWithWerift(packet);
}

// Replaces the parser inside werift as well, because werift parses each packet before we see it.
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

/** Creates a header that can be reused for every packet; it must not get extensions. */
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
