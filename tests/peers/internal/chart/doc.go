// Package chart draws pictures for the pages of docs that look alike, and are
// legible on a telephone.
package chart
