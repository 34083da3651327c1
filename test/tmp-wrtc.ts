import wrtc from '@roamhq/wrtc';
const mode = process.argv[2] ?? '';
const { RTCPeerConnection, nonstandard } = wrtc;
if (mode !== 'none') {
  const pc = new RTCPeerConnection();
  if (mode.includes('source')) {
    const s = new nonstandard.RTCAudioSource();
    const tr = s.createTrack();
    if (mode.includes('add')) pc.addTrack(tr);
    if (mode.includes('stop')) tr.stop();
  }
  await new Promise((r) => setTimeout(r, 100));
  pc.close();
  await new Promise((r) => setTimeout(r, 300));
}
if (mode.includes('exit')) process.exit(0);
