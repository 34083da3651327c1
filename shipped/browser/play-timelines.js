/**
 * Moves the line of a waveform with its audio, and plays from where the reader clicks.
 *
 * @param {Element} timeline
 * @param {HTMLAudioElement} audio
 */
function followAudio(timeline, audio) {
  const show = () => {
    timeline.classList.add('played');
    for (const head of findAll(timeline, '.playhead', SVGElement)) {
      const { width, seconds } = readPlayhead(head);
      const share = Math.min(1, audio.currentTime / seconds);
      head.setAttribute('transform', `translate(${share * width} 0)`);
    }
  };
  for (const name of ['play', 'timeupdate', 'seeking']) audio.addEventListener(name, show);
  for (const svg of timeline.querySelectorAll('svg')) {
    svg.addEventListener('click', ({ clientX, clientY }) => {
      const { left, width, seconds } = readPlayhead(findElement(svg, '.playhead', SVGElement));
      const point = new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM()?.inverse());
      const share = Math.min(1, Math.max(0, (point.x - left) / width));
      audio.currentTime = share * seconds;
      show();
    });
  }
}

/** @param {SVGElement} head */
function readPlayhead({ dataset }) {
  return {
    left: Number(dataset['left']),
    width: Number(dataset['width']),
    seconds: Number(dataset['seconds']),
  };
}

for (const timeline of document.querySelectorAll('.timeline')) {
  const audio = timeline.querySelector('audio');
  if (audio) followAudio(timeline, audio);
}
