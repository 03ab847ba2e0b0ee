export const landingTexts = {
  title: 'Sealed before it leaves you.',
  lead: 'Sinetti is a web messenger with end-to-end encryption. Messages are sealed in your browser and opened only in the browsers of the people you write to. The relay between you carries what it cannot read.',
  getStarted: 'Get Started',
  learnMore: 'Learn More',
  deleted: "Your account has been successfully deleted. We're sorry to see you go!",
  dismiss: 'Dismiss',

  featuresTitle: 'What is inside',
  benefitsTitle: 'What that means for you',
  badgesTitle: 'Built in the open, on open standards',
  callTitle: 'Start a sealed conversation',
  callText: 'A username, an email address and a good password are all it takes. Nothing to install.',
  callAction: 'Create an account',
} as const;

export const benefits = [
  {
    title: 'The server cannot read along',
    text: 'Your password becomes keys in your browser and never reaches the server. Neither do your messages: only sealed ones do.',
  },
  {
    title: 'A stolen database stays shut',
    text: 'What the server stores about your conversations is ciphertext, padded so that even lengths tell little.',
  },
  {
    title: 'Each browser proves who it is',
    text: 'Every browser you log in with has keys of its own, certified by your account key. A device that somebody made up for you is refused.',
  },
  {
    title: 'Plain about its limits',
    text: 'The server still sees who writes to whom and when. The privacy policy says so, instead of promising what no messenger can keep.',
  },
] as const;

/** Milliseconds (spec section 9). */
export const deletedBannerDuration = 5000;
