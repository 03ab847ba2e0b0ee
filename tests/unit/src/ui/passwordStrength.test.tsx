import { render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { PasswordStrength } from '#src/ui/PasswordStrength.tsx';

it('the strength of a password is said in words, which a screen reader hears, and shown', async () => {
  const { rerender } = render(<PasswordStrength password="" />);
  expect(screen.getByRole('status')).toBeEmptyDOMElement();
  expect(screen.queryByRole('meter')).toBeNull();

  rerender(<PasswordStrength password="password" />);
  expect(await screen.findByText(/many people have a password like this/)).toBeVisible();
  const meter = screen.getByRole('meter', { name: 'Strength of the password' });
  expect(meter).toHaveAttribute('aria-valuenow', '1');
  expect(meter).toHaveAttribute('aria-valuetext', screen.getByRole('status').textContent);

  rerender(<PasswordStrength password="correct horse battery staple" />);
  expect(await screen.findByText('Strong.')).toBeVisible();
  expect(screen.getByRole('meter')).toHaveAttribute('aria-valuenow', '3');
});

it('counts the names of the person as easy to guess', async () => {
  const { rerender } = render(<PasswordStrength password="Xyleptra42" />);
  expect(await screen.findByText(/^Fair/)).toBeVisible();
  rerender(<PasswordStrength password="Xyleptra42" personal={['xyleptra']} />);
  expect(await screen.findByText(/^Easy to guess/)).toBeVisible();
});
