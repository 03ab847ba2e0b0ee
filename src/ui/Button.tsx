import { clsx } from 'clsx';
import type { ComponentProps, ReactNode } from 'react';
import { Link, type LinkProps } from 'react-router-dom';
import styles from './Button.module.css';
import { Spinner } from './Spinner.tsx';

export interface ButtonLook {
  variant?: 'primary' | 'secondary' | 'quiet' | 'danger';
  size?: 'small' | 'medium' | 'large';
  /** Fills the width of its container. */
  wide?: boolean;
}

/** Class names of a button, for elements that aren't one (links, menu triggers). */
export function buttonClass({ variant = 'secondary', size = 'medium', wide = false }: ButtonLook): string {
  return clsx(styles.button, styles[variant], size !== 'medium' && styles[size], wide && styles.wide);
}

interface ButtonProps extends Omit<ComponentProps<'button'>, 'className'>, ButtonLook {
  /** Disables it and shows a spinner; the children name the task under way. */
  busy?: boolean;
}

export function Button({ variant, size, wide, busy = false, disabled, children, ...rest }: ButtonProps) {
  const look = { ...(variant && { variant }), ...(size && { size }), ...(wide && { wide }) };
  return (
    <button
      type="button"
      {...rest}
      className={buttonClass(look)}
      disabled={busy || disabled}
      aria-busy={busy || undefined}
    >
      {busy && <Spinner />}
      {children}
    </button>
  );
}

interface IconButtonProps extends Omit<ComponentProps<'button'>, 'className' | 'children'> {
  /** Names the action: the accessible name and the tooltip. */
  label: string;
  icon: ReactNode;
  size?: 'small' | 'medium';
}

export function IconButton({ label, icon, size = 'medium', ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      title={label}
      {...rest}
      aria-label={label}
      className={clsx(styles.button, styles.quiet, styles.icon, size === 'small' && styles.small)}
    >
      {icon}
    </button>
  );
}

/** Class names of an icon button, for menu triggers. */
export const iconButtonClass = clsx(styles.button, styles.quiet, styles.icon);

interface ButtonLinkProps extends Omit<LinkProps, 'className'>, ButtonLook {}

export function ButtonLink({ variant, size, wide, ...rest }: ButtonLinkProps) {
  const look = { ...(variant && { variant }), ...(size && { size }), ...(wide && { wide }) };
  return <Link {...rest} className={buttonClass(look)} />;
}
