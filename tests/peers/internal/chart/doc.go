// Package chart draws the pictures of the pages of docs, in one style that is legible on
// a phone.
package chart
